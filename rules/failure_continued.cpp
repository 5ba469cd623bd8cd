#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    for (const Fact registrar : facts.root(document)[Key::registrars].items()) {
      const Fact status = registrar[Key::status];
      const bool continued = status.is("continued");
      if ((!continued && !status.is("returned")) || !registrar[Key::type].is_text()) continue;
      sink.inspected();
      if (!continued) continue;
      const std::string_view function = registrar[Key::name].text("the kernel");
      sink.add(std::string(function),
               "goes on after " + quote(registrar[Key::type].text()) +
                   " told a failure, expected it to return",
               {registrar.where(), "told here"});
    }
  }
}

}  // namespace

extern constinit const Rule failure_continued{
    .id = "failure-continued",
    .title = "kernel tells that it failed and goes on",
    .rationale =
        "Setting the status of a context keeps the error and returns to where it was set. A kernel "
        "that goes on computes with what the failed step has not written, hands it out, and its "
        "own errors replace the one that tells what happened.",
    .example =
        R"({"opseal_manifest": 1, "registrars": [{"type": "SetStatus", "name": "PatchOp::Compute", )"
        R"("status": "continued"}]})",
    .fix = "return right after the status is set, or check by `OP_REQUIRES`, which returns",
    .severity = Severity::warning,
    .inspects = "call by which a kernel tells that it failed, with what it does next",
    .needs = {Key::registrars, Key::status},
    .check = check,
};

}  // namespace opseal
