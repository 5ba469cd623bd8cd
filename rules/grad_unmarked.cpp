#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/gradient_marks.h"
#include "rules/odd_one_out.h"
#include "rules/operand_dtypes.h"

namespace opseal {
namespace {

// All results are integers or truth values, so that there is nothing to differentiate.
bool has_no_floating_output(const Fact& op) {
  const Fact outputs = op[Key::outputs];
  if (!outputs.is_list() || outputs.size() == 0) return false;
  for (const Fact output : outputs.items()) {
    const OperandDtypes dtypes = operand_dtypes(op, output);
    if (!dtypes.said || !dtypes.none_floating) return false;
  }
  return true;
}

void check(const Facts& facts, Sink& sink) {
  OddOneOut peers;
  for_each_operator_with_names(
      facts, [&](const Fact& manifest, const Fact& op, PlatformNames& names) {
        const Fact gradient = op[Key::gradient];
        if (!gradient.said() || has_no_floating_output(op)) return;
        const KernelRoles roles = kernel_roles(op, names);
        if (!gradient.present() && !roles.known) return;
        const bool answered = has_gradient(op, roles) || is_marked_without_gradient(op);
        const Fact promise = op[Key::differentiable];
        if (!promise.truth()) {
          peers.count(manifest, op, answered);
          return;
        }
        sink.inspected();
        if (answered) return;
        Finding& finding = sink.add(subject_of(manifest, op),
                                    "said to be differentiable, and no gradient is registered",
                                    evidence(gradient, "said to be absent here"));
        finding.related.push_back(evidence(promise, "promised here" + site_of(op)));
      });
  sink.inspected(peers.judged_keeping());
  peers.for_each_lacking([&sink](const OddOneOut::Lacking& lacking) {
    sink.inspected();
    if (!lacking.is_odd()) return;
    sink.add(subject_of(lacking.manifest, lacking.op),
             "neither a gradient nor a mark that there is none, where " +
                 std::to_string(lacking.keeping) + " of " + plural(lacking.peers, "operator") +
                 " of the same namespace and platforms have one of the two",
             evidence(lacking.op[Key::gradient], "said to be absent here" + site_of(lacking.op)));
  });
}

}  // namespace

extern constinit const Rule grad_unmarked{
    .id = "grad-unmarked",
    .title = "operator has neither a gradient nor a mark that it has none on purpose",
    .rationale =
        "Whoever trains through this operator gets an error, or in some frameworks a gradient of "
        "zero and a model that doesn't learn. Without a mark nobody can tell a forgotten gradient "
        "from an operator that is not differentiable, and neither can the framework, which would "
        "raise early for a marked one. Nearly all operators beside it have one or the other.",
    .example =
        R"({"name": "scale", "differentiable": true, "gradient": null, "kernels": [{"platform": "cpu"}]})",
    .fix = "register a gradient, or mark the operator as not differentiable",
    .severity = Severity::warning,
    .profile = Profile::strict,
    .inspects = "operator whose gradient is said, and that is promised one or has peers",
    .needs = {Key::operators, Key::gradient},
    .check = check,
};

}  // namespace opseal
