#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    for (const Fact registrar : facts.root(document)[Key::registrars].items()) {
      const Fact replace = registrar[Key::replace];
      if (!replace.is_truth()) continue;
      sink.inspected();
      if (!replace.truth()) continue;
      const std::string_view call = registrar[Key::type].text();
      const Fact function = registrar[Key::name];
      sink.add(std::string(function.is_text() ? function.text() : call),
               "registers a target once more by " + quote(call) +
                   " to replace its handler; the first one stays",
               evidence(replace, "a name that is registered gets here"));
    }
  }
}

}  // namespace

extern constinit const Rule replace_unsupported{
    .id = "replace-unsupported",
    .title = "target is registered again to replace its handler",
    .rationale =
        "XLA can't exchange the handler of a target. For CPUs it refuses a second one for the "
        "name; for CUDA it accepts the call and keeps the first, and programs that are compiled "
        "hold the old address anyway. A rebuilt kernel that is registered under its old name "
        "never runs, and nothing says so.",
    .example =
        R"({"opseal_manifest": 1, "registrars": [{"type": "jax.ffi.register_ffi_target", "name": "register", "replace": true}]})",
    .fix = "give the rebuilt kernel a name of its own, for example with a digest of its content",
    .severity = Severity::error,
    .inspects = "call that hands a target to a framework, and may be asked for a replacement",
    .needs = {Key::registrars, Key::replace},
    .check = check,
};

}  // namespace opseal
