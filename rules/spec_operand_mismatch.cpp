#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opseal/arg_spec.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/target_specs.h"

namespace opseal {
namespace {

// What is longer is nobody's list of attributes, and each name is held against each other one.
constexpr std::uint32_t most_attributes = 64;

struct Counted {
  std::uint32_t arguments = 0;
  std::uint32_t results = 0;
  std::vector<std::string_view> attributes;
  bool readable = true;
};

Counted count_tokens(const Fact& spec) {
  Counted counted;
  for_each_spec_token(spec, [&counted](const Fact&, const SpecToken& token) {
    if (token.kind == SpecKind::argument) ++counted.arguments;
    if (token.kind == SpecKind::result) ++counted.results;
    if (token.kind == SpecKind::attribute) counted.attributes.push_back(token.name);
    if (token.kind == SpecKind::bad || token.rest || token.optional) counted.readable = false;
  });
  return counted;
}

bool has(const std::vector<std::string_view>& names, std::string_view wanted) {
  for (const std::string_view name : names) {
    if (name == wanted) return true;
  }
  return false;
}

// An attribute of the spec that the operator lacks, and one of the operator that the spec lacks and
// that is spelled nearly the same. A wrapper may add attributes and leave some out, but it renames
// none by a letter.
std::string misspelt_attribute(const Fact& op, const Counted& counted) {
  const Fact attributes = op[Key::attributes];
  if (!all_read(attributes) || attributes.size() > most_attributes) return {};
  if (counted.attributes.size() > most_attributes) return {};
  std::vector<std::string_view> own;
  for (const Fact attribute : attributes.items()) own.push_back(attribute[Key::name].text());
  std::vector<std::string_view> unused;
  for (const std::string_view name : own) {
    if (!has(counted.attributes, name)) unused.push_back(name);
  }
  for (const std::string_view name : counted.attributes) {
    if (has(own, name)) continue;
    const std::string_view meant = nearest_name(name, unused);
    if (meant.empty()) continue;
    return "attribute " + quote(name) + " of the spec is " + quote(meant) + " in the operator";
  }
  return {};
}

class KernelCheck {
 public:
  KernelCheck(const Fact& manifest, const Fact& op, Sink& sink)
      : manifest_(manifest), op_(op), sink_(sink) {}

  void look_at(const Fact& kernel, const Fact& spec) {
    const Counted counted = count_tokens(spec);
    // A bad token is another rule's finding.
    if (!counted.readable) return;
    // A function of the kernel stands between the operator and the target, and may add or drop
    // what it likes.
    const bool direct = !kernel[Key::function].present();
    const Stated<CountRange> inputs = operand_count(op_[Key::inputs]);
    const Stated<CountRange> outputs = operand_count(op_[Key::outputs]);
    const bool attributes = op_[Key::attributes].is_list();
    if (!attributes && !(direct && (inputs || outputs))) return;
    sink_.inspected();
    if (direct && inputs && !inputs->has(counted.arguments)) {
      add(kernel, spec, op_[Key::inputs],
          plural(counted.arguments, "`arg`", "`arg`") + " in the spec, the operator has " +
              to_text(*inputs, "input"));
    } else if (direct && outputs && counted.results < outputs->min) {
      // More are workspaces.
      add(kernel, spec, op_[Key::outputs],
          plural(counted.results, "`ret`", "`ret`") + " in the spec, the operator has " +
              to_text(*outputs, "output"));
    } else if (std::string message = misspelt_attribute(op_, counted); !message.empty()) {
      add(kernel, spec, op_[Key::attributes], std::move(message));
    }
  }

 private:
  void add(const Fact& kernel, const Fact& spec, const Fact& other, std::string message) {
    Finding& finding = sink_.add(subject_of(manifest_, op_), std::move(message),
                                 evidence(spec, "spec of " + quote(kernel[Key::target].text())));
    finding.related.push_back(evidence(other, "the operator's own" + site_of(op_)));
    finding.related.push_back(
        evidence(kernel[Key::target], "kernel that calls the target" + site_of(kernel)));
  }

  const Fact& manifest_;
  const Fact& op_;
  Sink& sink_;
};

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    if (is_plain_xla(manifest)) continue;
    const TargetSpecs specs(manifest);
    if (specs.empty()) continue;
    for (const Fact op : manifest[Key::operators].items()) {
      KernelCheck check(manifest, op, sink);
      for (const Fact kernel : op[Key::kernels].items()) {
        if (!kernel[Key::target].is_text()) continue;
        const Fact spec = specs.of(kernel[Key::target].name());
        if (spec) check.look_at(kernel, spec);
      }
    }
  }
}

}  // namespace

extern constinit const Rule spec_operand_mismatch{
    .id = "spec-operand-mismatch",
    .title = "argument spec that does not fit the operator whose kernel calls it",
    .rationale =
        "A kernel that is called straight through a target hands over the operands of its "
        "operator. "
        "If the spec of the target counts others, the call is refused when it is first lowered, or "
        "an output is never written. An attribute that the two spell differently is not passed at "
        "all.",
    .example =
        R"-({"opseal_manifest": 1, "system": "engine", "operators": [{"name": "f", "inputs": 2,)-"
        R"-( "kernels": [{"platform": "cpu", "target": "lib.f"}]}],)-"
        R"-( "targets": [{"name": "lib.f", "spec": ["arg", "ret"]}]})-",
    .fix =
        "list one `arg` for each input and one `ret` for each output, and spell attributes as the "
        "operator does; a kernel that adapts its operands says so by `function`",
    .severity = Severity::warning,
    .profile = Profile::strict,
    .inspects = "kernel that calls a target with a spec, of an operator with stated operands",
    .needs = {Key::operators, Key::kernels, Key::target, Key::spec},
    .check = check,
};

}  // namespace opseal
