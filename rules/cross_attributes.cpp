#include <algorithm>
#include <string>
#include <vector>

#include "opseal/text.h"
#include "rules/cross_name.h"
#include "rules/cross_signature.h"

namespace opseal {
namespace {

struct Attributes {
  CrossSignature signature;
  explicit operator bool() const { return signature.attributes_at.said(); }
};

// Where a framework lets the caller say how a result is made: no part of what is computed.
constexpr std::string_view plumbing[] = {"backend",      "device",       "dtype",   "generator",
                                         "layout",       "memoryformat", "out",     "pinmemory",
                                         "requiresgrad", "stream",       "outdtype"};

bool is_plumbing(const std::string& folded) {
  return std::find(std::begin(plumbing), std::end(plumbing), folded) != std::end(plumbing);
}

// Inputs of `b` that have no name and no counterpart among those of `a`: any attribute may be one.
std::size_t unnamed_surplus(const CrossSignature& a, const CrossSignature& b) {
  const bool unnamed =
      b.operands.empty() || std::any_of(b.operands.begin(), b.operands.end(),
                                        [](const auto& o) { return o.name.empty(); });
  if (!unnamed || b.inputs.max <= a.inputs.max) return 0;
  return b.inputs.max - a.inputs.max;
}

// Attributes of `a` that `b` has neither as attribute nor as tensor.
std::vector<std::string> missing(const CrossSignature& a, const CrossSignature& b) {
  std::vector<std::string> names;
  for (const CrossSignature::Named& attribute : a.attributes) {
    if (attribute.name.empty() || is_plumbing(attribute.folded)) continue;
    if (b.find_attribute(attribute.folded) != nullptr ||
        b.find_operand(attribute.folded) != nullptr) {
      continue;
    }
    names.emplace_back(attribute.name);
  }
  if (names.size() <= unnamed_surplus(a, b)) names.clear();
  return names;
}

// A target is handed sizes and the like that the operator in front of it works out, so what only
// it has says something only beside what it lacks.
bool lacks(const CrossSignature& a, const CrossSignature& b) {
  return !a.target && !missing(a, b).empty();
}

bool agree(const Attributes& a, const Attributes& b) {
  return !lacks(a.signature, b.signature) && !lacks(b.signature, a.signature);
}

void check(const Facts& facts, Sink& sink) {
  for (const CrossOperator& op : cross_operators(facts)) {
    hold_together(
        op, sink, [](const CrossColumn& column) { return Attributes{read_signature(column)}; },
        agree,
        [&sink](const CrossColumn& reference, const CrossColumn& other, const Attributes& expected,
                const Attributes& found) {
          const bool turned = !lacks(expected.signature, found.signature);
          const CrossColumn& lacking = turned ? reference : other;
          const CrossColumn& having = turned ? other : reference;
          const CrossSignature& here = (turned ? expected : found).signature;
          const CrossSignature& there = (turned ? found : expected).signature;
          const std::vector<std::string> lost = missing(there, here);
          const std::vector<std::string> own = missing(here, there);
          std::string message = column_text(lacking) + " has no attribute " + quote_list(lost);
          if (!own.empty()) message += " but " + quote_list(own);
          message += ", " + column_text(having) + " has";
          Finding& finding =
              sink.add(subject_of(lacking), std::move(message),
                       evidence(here.attributes_at, "attributes" + site_of(lacking.item)));
          finding.related.push_back(
              evidence(there.attributes_at, "attributes" + site_of(having.item)));
          add_join_evidence(having, lacking, finding);
          finding.severity = severity_of_decision(reference, other);
        });
  }
}

}  // namespace

extern constinit const Rule cross_attributes{
    .id = "cross-attributes",
    .title = "operator lacks an attribute that it has in another system",
    .rationale =
        "An attribute that one framework's registration has and the other's lacks is a setting "
        "that is ignored there: a caller who moves a model from one to the other gets the default "
        "without a word. Where both sides have an attribute of their own, the two were probably "
        "meant to be one, and a converter that copies attributes by name drops both.",
    .example =
        R"({"opseal_manifest": 1, "joins": [["a::norm", "b::norm"]], "operators": [)"
        R"({"name": "norm", "namespace": "a", "inputs": 1, "attributes": [{"name": "epsilon"}]},)"
        R"( {"name": "norm", "namespace": "b", "inputs": 1, "attributes": [{"name": "eps"}]}]})",
    .fix = "give both registrations the same attributes, by the same names",
    .severity = Severity::warning,
    .profile = Profile::strict,
    .inspects =
        "registration of an operator that another system has too, both with stated attributes",
    .asked_by = Key::joins,
    .check = check,
};

}  // namespace opseal
