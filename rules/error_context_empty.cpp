#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/framework_rows.h"

namespace opseal {
namespace {

// Of a framework that was asked.
constexpr FrameworkFault faults[] = {
    {"error-no-target", "a call of a target that nobody registered does not name it",
     Severity::warning},
    {"error-no-kernel",
     "a call on a platform without a kernel does not say which platforms have one",
     Severity::warning},
    {"error-generator-fails",
     "a kernel that can't be made does not say which other backends there are", Severity::warning},
};

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    for (const Fact error : facts.root(document)[Key::registrars].items()) {
      const Fact listed = error[Key::listed];
      if (!listed.is_list()) continue;
      sink.inspected();
      if (listed.size() > 0) continue;
      const Fact function = error[Key::name];
      std::string message = quote(error[Key::type].text()) + " lists nothing as available";
      const Fact registry = error[Key::reads];
      if (registry.size() > 0) {
        message += ", " + quote_list(texts_of(registry)) + " has what is there";
      }
      sink.add(std::string(function.is_text() ? function.text() : error[Key::type].text()),
               std::move(message), evidence(listed, "always empty"));
    }
  }
  judge_framework_rows(facts, faults, sink);
}

}  // namespace

extern constinit const Rule error_context_empty{
    .id = "error-context-empty",
    .title = "error of a missed look-up lists nothing as available",
    .rationale =
        "The error says what was asked for and what is there, and the second is an empty list "
        "whatever is registered. Whoever reads it takes the registry to be empty and looks for a "
        "package that isn't imported or a library that isn't loaded, while a name was misspelt or "
        "one backend of several is missing. A framework's own error that names no platform and no "
        "backend with a kernel leaves them as lost.",
    .example =
        R"({"opseal_manifest": 1, "registrars": [{"type": "KernelNotFound", "name": "lookup", "reads": ["self.kernels"], "listed": []}]})",
    .fix = "hand over the keys of the registry that was looked into",
    .severity = Severity::warning,
    .inspects = "error of a missed look-up with a list of what is there, or a framework's own",
    // What sources say, or what was seen when a framework was asked: either will do.
    .needs = {},
    .check = check,
};

}  // namespace opseal
