#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/schema_text.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Shorter names stand for anything: `x` and `y`, `a` and `b`.
constexpr std::size_t shortest = 4;
// Calls and operators have few arguments, and each is held against each.
constexpr std::size_t most_arguments = 64;

std::string plain(std::string_view name) {
  std::string out;
  for (const char byte : name) {
    if (byte != '_') out += static_cast<char>(std::tolower(static_cast<unsigned char>(byte)));
  }
  return out;
}

// `scales` and `_scaling_factors`, `qzeros` and `zeros`.
bool alike(const std::string& a, const std::string& b) {
  if (a.size() < shortest || b.size() < shortest) return false;
  if (a.find(b) != a.npos || b.find(a) != b.npos) return true;
  std::size_t same = 0;
  while (same < a.size() && same < b.size() && a[same] == b[same]) ++same;
  return same >= shortest && same * 5 >= std::min(a.size(), b.size()) * 3;
}

bool same_type(const SchemaOperand& a, const SchemaOperand& b) {
  return a.type == b.type && a.lists == b.lists;
}

class SwapCheck {
 public:
  SwapCheck(const Fact& manifest, Sink& sink) : manifest_(manifest), sink_(&sink) {
    for (const Fact op : manifest[Key::operators].items()) {
      const std::string_view name = op[Key::name].text();
      operators_[name.substr(0, name.find('.'))].push_back(op);
    }
  }

  void judge(const Fact& lookup) {
    const Fact names = lookup[Key::names];
    const auto found = operators_.find(lookup[Key::operator_].text());
    // Which of several overloads is called isn't known.
    if (found == operators_.end() || found->second.size() != 1 || !all_read(names)) return;
    const Fact op = found->second.front();
    const std::optional<OperatorSchema> schema = read_schema(op[Key::schema]);
    if (!schema || schema->more_inputs || names.size() > most_arguments) return;
    sink_->inspected();
    std::vector<std::string> given;
    std::vector<std::string> asked;
    for (const Fact name : names.items()) given.push_back(plain(name.text()));
    given.resize(std::min(given.size(), schema->inputs.size()));
    for (std::size_t at = 0; at < given.size(); ++at) {
      asked.push_back(plain(schema->inputs[at].name));
    }
    for (std::size_t a = 0; a < given.size(); ++a) {
      for (std::size_t b = a + 1; b < given.size(); ++b) {
        if (!alike(given[a], asked[b]) || !alike(given[b], asked[a])) continue;
        if (alike(given[a], asked[a]) || alike(given[b], asked[b])) continue;
        if (!same_type(schema->inputs[a], schema->inputs[b])) continue;
        report(op, lookup, names, *schema, a, b);
        return;
      }
    }
  }

 private:
  static std::string_view name_at(const Fact& names, std::size_t place) {
    std::size_t at = 0;
    for (const Fact name : names.items()) {
      if (at++ == place) return name.text();
    }
    return {};
  }

  void report(const Fact& op, const Fact& lookup, const Fact& names, const OperatorSchema& schema,
              std::size_t a, std::size_t b) {
    Finding& finding = sink_->add(
        subject_of(manifest_, op),
        "call hands over " + quote(name_at(names, a)) + " as " + quote(schema.inputs[a].name) +
            " and " + quote(name_at(names, b)) + " as " + quote(schema.inputs[b].name),
        evidence(lookup, "called here" + site_of(lookup)));
    finding.related.push_back(evidence(op[Key::schema], "schema" + site_of(op)));
  }

  Fact manifest_;
  Sink* sink_;
  std::unordered_map<std::string_view, std::vector<Fact>> operators_;
};

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    if (!manifest[Key::system].is("torch")) continue;
    SwapCheck swaps(manifest, sink);
    for (const Fact row : manifest[Key::dispatch].items()) {
      for (const Fact lookup : row[Key::lookups].items()) {
        if (lookup[Key::names].is_list()) swaps.judge(lookup);
      }
    }
  }
}

}  // namespace

extern constinit const Rule call_arguments_swapped{
    .id = "call-arguments-swapped",
    .title = "call hands over two arguments of one type in each other's place",
    .rationale =
        "Arguments of one type can be exchanged without anybody's notice: the operator reads "
        "scales where the zero points are, and computes garbage. The names say it: each of the two "
        "is called as the other parameter is.",
    .example =
        R"({"opseal_manifest": 1, "system": "torch", "operators": [{"name": "lib::mm", "schema": "lib::mm(Tensor x, Tensor scales, Tensor zeros) -> Tensor"}], )"
        R"("dispatch": [{"operator": "lib::mm", "lookups": [{"operator": "lib::mm", "names": ["x", "qzeros", "scales"]}]}]})",
    .fix = "exchange the two arguments of the call, or the two names",
    .severity = Severity::warning,
    .inspects = "call of an operator whose schema names its arguments",
    .needs = {Key::operators, Key::schema, Key::lookups, Key::names},
    .check = check,
};

}  // namespace opseal
