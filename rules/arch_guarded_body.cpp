#include <string>
#include <string_view>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/arch_guards.h"
#include "rules/guarded_kernels.h"

namespace opseal {
namespace {

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    for (const Fact function : facts.root(document)[Key::device_functions].items()) {
      const Fact otherwise = function[Key::otherwise];
      if (otherwise.is("trap") || otherwise.is("code")) sink.inspected();
    }
    const GuardedKernels kernels(facts, document);
    for (const GuardedKernel& kernel : kernels.all()) {
      if (holds_on_all_architectures(kernel.guard())) continue;
      sink.inspected();
      const Fact& function = kernel.functions.front();
      if (kernel.unasked.empty()) {
        if (!kernel.asserts()) continue;
        // The device may be able to, and the library still have no code for it.
        sink.add(std::string(function[Key::name].text()),
                 "does its work under " + quote(kernel.guard()) +
                     " alone and elsewhere only asserts, which release builds drop",
                 evidence(function, "kernel defined here" + site_of(function)))
            .severity = Severity::note;
        continue;
      }
      std::string message = "does its work under " + quote(kernel.guard()) + " alone, ";
      message += kernel.asserts() ? "elsewhere it only asserts, which release builds drop"
                                  : "elsewhere it does nothing";
      message += ", and the host starts it without asking for the device's capability";
      Finding& finding = sink.add(std::string(function[Key::name].text()), std::move(message),
                                  evidence(function, "kernel defined here" + site_of(function)));
      const Fact& launch = kernel.unasked.front();
      finding.related.push_back(evidence(launch, "started here" + site_of(launch)));
    }
  }
}

}  // namespace

extern constinit const Rule arch_guarded_body{
    .id = "arch-guarded-body",
    .title = "kernel that does nothing on some devices, started on all of them",
    .rationale =
        "Where the whole body of a kernel stands under a test of `__CUDA_ARCH__`, the code for "
        "every other architecture is an empty kernel. It starts and ends without an error, and the "
        "output keeps what was in memory. An `assert` in the other branch is gone in release "
        "builds. It is told where nothing on the way to the launch sounds like a question for the "
        "device's capability: the function, what it names, all that call it, and the files that "
        "these stand in; a project with Python that asks is not judged. A build that makes code "
        "for fitting devices alone is not seen.",
    .example =
        R"({"opseal_manifest": 1,
 "device_functions": [{"name": "scale", "guard": "__CUDA_ARCH__ >= 800", "otherwise": "nothing"}],
 "launches": [{"kernel": "scale", "function": "run_scale", "conditions": []}]})",
    .fix =
        "refuse other devices before the launch, and let the other branch `__trap()`, so that a "
        "launch which should not be gives an error",
    .severity = Severity::warning,
    .tier = Tier::lexed,
    .inspects =
        "kernel whose body stands under a guard, with another body elsewhere or a host of which it "
        "is said what it asks",
    .needs = {Key::device_functions, Key::guard, Key::otherwise, Key::launches},
    .check = check,
};

}  // namespace opseal
