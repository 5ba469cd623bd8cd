#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/sources.h"
#include "opseal/text.h"
#include "rules/python_fakes.h"

namespace opseal {
namespace {

// Python speaks of an operator after the library that brings it was loaded.
void check(const Facts& facts, Sink& sink) {
  for_each_python_fake(facts, [&sink](const Fact& manifest, const Fact& op, const Fact& abstract,
                                      const KernelRoles& roles) {
    sink.inspected();
    const Fact kernel = roles.meta;
    // A build that leaves the kernel out has a fine shape function. What Python itself
    // registers for `Meta` may be an alternative.
    if (!kernel || kernel[Key::when].said() || is_in_python(kernel)) return;
    Finding& finding =
        sink.add(subject_of(manifest, op),
                 "shape function for an operator that has a kernel for `Meta`, which torch refuses",
                 evidence(abstract, "shape function registered here"));
    finding.related.push_back(
        evidence(kernel[Key::platform], "the kernel for `Meta`" + site_of(kernel)));
  });
}

}  // namespace

extern constinit const Rule fake_on_meta{
    .id = "fake-on-meta",
    .title = "shape function for an operator that has one already",
    .rationale =
        "A C++ kernel for the key `Meta` is a shape function. When the library is loaded it is "
        "there, and `register_fake` looks for one and raises: the module that registers the second "
        "can't be imported. Often one was added to a function that brought its own.",
    .example =
        R"({"opseal_manifest": 1, "system": "torch", "producer": {"name": "sources"}, "tree": {"files": 1, "partial": false}, )"
        R"("operators": [{"name": "lib::f", "abstract": {"name": "f_fake", "location": {"file": "ops.py"}}, )"
        R"("kernels": [{"platform": "Meta", "location": {"file": "ops.cpp"}}]}]})",
    .fix = "remove one of the two",
    .severity = Severity::error,
    .inspects = "operator with kernels and a shape function of Python",
    .needs = {Key::operators, Key::kernels, Key::abstract},
    .check = check,
};

}  // namespace opseal
