#include <optional>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/operator_index.h"

namespace opseal {
namespace {

bool is_forward_only(const Fact& op) {
  const Fact differentiable = op[Key::differentiable];
  if (differentiable.is_truth() && !differentiable.truth()) return true;
  for (const Fact tag : op[Key::tags].items()) {
    if (glob_match("forward?only", tag.text()) || glob_match("forward?mode?only", tag.text())) {
      return true;
    }
  }
  return false;
}

// An operator without a kernel is gone before anything is transposed (references, boxes).
bool has_kernel(const Fact& op) {
  for (const Fact kernel : op[Key::kernels].items()) {
    if (is_active_kernel(kernel) && !kernel[Key::stub].truth()) return true;
  }
  return false;
}

// Whether reverse mode gets through an operator that a tangent is fed to. One that it never meets
// counts as passed.
enum class Transposable : std::uint8_t { unknown, yes, no };

Transposable judge(const Fact& op) {
  if (op[Key::transpose].present()) return Transposable::yes;
  if (!op[Key::transpose].is_null() || !op[Key::kernels].is_list()) return Transposable::unknown;
  if (is_forward_only(op) || !has_kernel(op)) return Transposable::yes;
  return Transposable::no;
}

class Transposes {
 public:
  Transposes(const Facts& facts, Sink& sink) : facts_(&facts), sink_(&sink) {}

  void check(const Fact& manifest, const Fact& op) {
    const Fact jvp = op[Key::jvp];
    const bool linear = jvp[Key::kind].is("linear");
    if (!linear && !jvp[Key::tangent_operators].is_list()) return;
    // A linearization or a gradient of its own takes the place of the JVP in reverse mode.
    if (op[Key::linearization] || op[Key::gradient] || is_forward_only(op)) return;
    if (linear) {
      const Transposable transposable = judge(op);
      if (transposable == Transposable::unknown) return;
      sink_->inspected();
      if (transposable == Transposable::no) report(manifest, op, op, jvp[Key::kind], "itself");
    } else if (jvp[Key::tangent_operators].is_list()) {
      check_reached(manifest, op, jvp[Key::tangent_operators]);
    }
  }

 private:
  void check_reached(const Fact& manifest, const Fact& op, const Fact& tangent_operators) {
    bool whole = tangent_operators.size() > 0;
    auto rule = op[Key::jvp][Key::rules].items().begin();
    const auto rules_end = op[Key::jvp][Key::rules].items().end();
    for (const Fact reached_by_rule : tangent_operators.items()) {
      const bool hole = rule != rules_end && (*rule).is_null();
      if (rule != rules_end) ++rule;
      if (!reached_by_rule.is_list() && !hole) whole = false;
      for (const Fact reached : reached_by_rule.items()) {
        const Fact target = reached.is_text() ? resolve(manifest, op, reached) : Fact();
        const Transposable transposable = judge(target);
        if (transposable == Transposable::unknown) whole = false;
        if (transposable != Transposable::no) continue;
        report(manifest, op, target, reached, target == op ? "itself" : quote(reached.text()));
        sink_->inspected();
        // The other rules usually feed the same operator.
        return;
      }
    }
    if (whole) sink_->inspected();
  }

  // The one operator that is meant, or not said.
  Fact resolve(const Fact& manifest, const Fact& op, const Fact& reached) {
    if (op[Key::name].name() == reached.name()) return op;
    if (!index_) index_.emplace(*facts_);
    const std::vector<Fact> found = index_->find(manifest, op, reached.text());
    return found.size() == 1 ? found.front() : Fact();
  }

  void report(const Fact& manifest, const Fact& op, const Fact& target, const Fact& fed,
              const std::string& target_text) {
    Finding& finding = sink_->add(
        subject_of(manifest, op),
        "JVP feeds the tangent to " + target_text + ", which has kernels and no transpose rule",
        evidence(target[Key::transpose], "said to be absent here" + site_of(target)));
    finding.related.push_back(evidence(fed, "tangent goes there" + site_of(op)));
  }

  const Facts* facts_;
  Sink* sink_;
  // Most inputs need none: made when the first rule reaches another operator.
  std::optional<OperatorIndex> index_;
};

void check(const Facts& facts, Sink& sink) {
  Transposes transposes(facts, sink);
  for_each_operator(facts, [&transposes](const Fact& manifest, const Fact& op) {
    transposes.check(manifest, op);
  });
}

}  // namespace

extern constinit const Rule jvp_without_transpose{
    .id = "jvp-without-transpose",
    .title = "tangent goes to an operator that has no transpose rule",
    .rationale =
        "Reverse mode runs the JVP with an unknown tangent and then transposes every operator that "
        "the tangent went through. One of them has no transpose rule, so `grad` raises, while "
        "`jvp` "
        "and the operator itself work: the gap shows only once somebody trains.",
    .example =
        R"({"name": "scale", "inputs": 1, "jvp": {"kind": "linear"}, "transpose": null, "kernels": [{"platform": "cpu"}]})",
    .fix =
        "register a transpose rule; a manifest may say `\"differentiable\": false`, or tag it "
        "`forward-only`",
    .severity = Severity::warning,
    .inspects =
        "operator whose JVP says what it feeds the tangent to, with the transposes of those said",
    .needs = {Key::jvp, Key::transpose, Key::kernels},
    .check = check,
};

}  // namespace opseal
