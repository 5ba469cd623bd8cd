#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {

static void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    for (const Fact target : facts.root(document)[Key::targets].items()) {
      const Fact pinned = target[Key::pinned];
      if (!pinned.is_truth()) continue;
      // Code of a loaded library stays where it is; only a callback that was made at run time can
      // be collected.
      if (target[Key::library].present() || target[Key::symbol].present()) continue;
      sink.inspected();
      if (pinned.truth()) continue;
      Finding& finding = sink.add(std::string(target[Key::name].text()),
                                  "nothing keeps the callback of this target alive",
                                  evidence(pinned, "said to be unpinned here"));
      const Fact function = target[Key::function];
      finding.related.push_back(
          function[Key::name].is_text()
              ? evidence(function,
                         "callback made from " + function_text(function) + site_of(target))
              : evidence(target[Key::name], "target registered here" + site_of(target)));
    }
  }
}

extern constinit const Rule handler_unpinned{
    .id = "handler-unpinned",
    .title = "registered callback that nothing keeps alive",
    .rationale =
        "The framework keeps the address of a handler, not the object behind it. If the handler is "
        "a callback made at run time (by ctypes, cffi or a just-in-time compiler) and its owner is "
        "collected, the address dangles: a later call runs whatever lies there by then. It crashes "
        "or returns garbage, and only some time after the registration that caused it.",
    .example =
        R"({"name": "numba_ffi_0", "platform": "cpu", "function": {"name": "kernel"}, "pinned": false})",
    .fix = "keep the callback in a container that lives as long as the process",
    .severity = Severity::error,
    .inspects = "target with a callback made at run time, of which it is said whether it is pinned",
    .needs = {Key::targets, Key::pinned},
    .check = check,
};

}  // namespace opseal
