#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    for (const Fact registrar : facts.root(document)[Key::registrars].items()) {
      const Fact status = registrar[Key::status];
      if (!status.is_text() || !registrar[Key::type].is_text()) continue;
      // Tells a failure, and registers nothing.
      if (status.is("returned") || status.is("continued")) continue;
      sink.inspected();
      if (status.is("checked")) continue;
      const std::string call = quote(registrar[Key::type].text());
      sink.add(
          std::string(registrar[Key::type].text()),
          status.is("swallowed")
              ? "every exception of " + call + " is swallowed; expected that only a known one is"
              : "result of " + call + " is dropped; expected that an error is told",
          {registrar.where(), "registered here"});
    }
  }
}

}  // namespace

extern constinit const Rule register_status_ignored{
    .id = "register-status-ignored",
    .title = "nobody looks whether a registration worked",
    .rationale =
        "A registration fails for a reason: the name is taken, the schema can't be read, the table "
        "is full. Where the result is dropped, or all exceptions are caught and forgotten, the "
        "program goes on without the operator, or with somebody else's of the same name.",
    .example =
        R"({"opseal_manifest": 1, "registrars": [{"type": "register_kernels", "status": "dropped"}]})",
    .fix = "check the result, or catch only the error that is expected and compare what is there",
    .severity = Severity::warning,
    .inspects = "call that registers, with what becomes of its answer",
    .needs = {Key::registrars, Key::status},
    .check = check,
};

}  // namespace opseal
