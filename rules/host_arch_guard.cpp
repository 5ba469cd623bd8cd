#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    for (const Fact test : facts.root(document)[Key::arch_tests].items()) {
      const Fact status = test[Key::status];
      if (!test[Key::side].is_text()) continue;
      sink.inspected();
      const bool by_host_compiler = test[Key::side].is("host_compiler");
      if (!status.is_text() || (!by_host_compiler && !test[Key::side].is("host"))) continue;
      const std::string condition = quote(test[Key::condition].text());
      std::string message = condition + " is " + std::string(status.text()) + " true ";
      message += by_host_compiler ? "in a file that the host compiler alone reads"
                                  : "in a function of the host";
      message +=
          status.is("always") ? ", no other branch is compiled" : ", its branch is not compiled";
      const Fact function = test[Key::function];
      Finding& finding = sink.add(std::string(function.text("__CUDA_ARCH__")), std::move(message),
                                  evidence(test, "tested here" + site_of(test)));
      if (!by_host_compiler) finding.severity = Severity::warning;
    }
  }
}

}  // namespace

extern constinit const Rule host_arch_guard{
    .id = "host-arch-guard",
    .title = "architecture of the device tested in code of the host",
    .rationale =
        "`__CUDA_ARCH__` is defined while code for a device is compiled, once for each "
        "architecture, and nowhere else. In code of the host it counts as 0, whatever the machine "
        "has: a branch for new devices is never compiled, one for old devices always. The program "
        "runs, on every device by the path that was meant for one kind of them.",
    .example =
        R"({"opseal_manifest": 1, "arch_tests": [{"condition": "__CUDA_ARCH__ >= 800", "side": "host_compiler", "status": "never"}]})",
    .fix =
        "ask for the capability of the device when the code runs, as `cudaDeviceGetAttribute` "
        "does, or move the test into device code",
    .severity = Severity::error,
    .tier = Tier::lexed,
    .inspects = "conditional that tests `__CUDA_ARCH__` in code of which the side is known",
    .needs = {Key::arch_tests, Key::side},
    .check = check,
};

}  // namespace opseal
