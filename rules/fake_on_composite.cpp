#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/sources.h"
#include "opseal/text.h"
#include "rules/python_fakes.h"

namespace opseal {
namespace {

// The kernel is there when the shape function comes: what a library brings is loaded before Python
// can speak of its operators, and in one file the text is the order. Of two Python files, which is
// imported first isn't known.
bool comes_first(const Fact& kernel, const Fact& abstract) {
  if (!is_in_python(kernel)) return true;
  if (source_of(kernel) != source_of(abstract)) return false;
  // A dump states the lines, and its own order says nothing.
  const Fact kernel_line = kernel[Key::location][Key::line];
  const Fact abstract_line = abstract[Key::location][Key::line];
  if (kernel_line.is_count() && abstract_line.is_count()) {
    return kernel_line.count() < abstract_line.count();
  }
  return kernel.where().offset < abstract.where().offset;
}

void check(const Facts& facts, Sink& sink) {
  for_each_python_fake(facts, [&sink](const Fact& manifest, const Fact& op, const Fact& abstract,
                                      const KernelRoles& roles) {
    sink.inspected();
    const Fact kernel = roles.implicit;
    // A build that leaves the kernel out has a fine shape function.
    if (!kernel || kernel[Key::when].said() || !comes_first(kernel, abstract)) return;
    Finding& finding = sink.add(
        subject_of(manifest, op),
        "shape function for an operator whose kernel is `CompositeImplicitAutograd`, which "
        "torch refuses",
        evidence(abstract, "shape function registered here"));
    finding.related.push_back(
        evidence(kernel[Key::platform].said() ? kernel[Key::platform] : kernel,
                 "the composite kernel" + site_of(kernel)));
  });
}

}  // namespace

extern constinit const Rule fake_on_composite{
    .id = "fake-on-composite",
    .title = "shape function for an operator that torch takes apart",
    .rationale =
        "A `CompositeImplicitAutograd` kernel is made of other operators, and torch traces through "
        "it: shapes and gradients come from its parts. `register_fake` looks for such a kernel and "
        "raises, so the module that registers the shape function can't be imported. The key "
        "is rarely chosen: a function handed to `m.def`, or to `impl` without a key, gets it, "
        "where a kernel for one device or an opaque one for all was meant.",
    .example =
        R"({"opseal_manifest": 1, "system": "torch", "producer": {"name": "sources"}, "tree": {"files": 1, "partial": false}, )"
        R"("operators": [{"name": "lib::f", "abstract": {"name": "fake", "location": {"file": "ops.py", "line": 9}}, )"
        R"("kernels": [{"platform": "CompositeImplicitAutograd", "location": {"file": "ops.cpp", "line": 3}}]}]})",
    .fix =
        "register the kernel at its devices, or at `CompositeExplicitAutograd` if it serves all; "
        "or drop the shape function",
    .severity = Severity::error,
    .inspects = "operator of torch in sources with a shape function in Python and a kernel",
    .needs = {Key::operators, Key::kernels, Key::abstract},
    .check = check,
};

}  // namespace opseal
