#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    for (const Fact registrar : facts.root(document)[Key::registrars].items()) {
      const Fact room = registrar[Key::max];
      const Fact added = registrar[Key::calls];
      if (!room.is_count() || !added.is_count()) continue;
      sink.inspected();
      if (added.count() <= room.count()) continue;
      sink.add(
          std::string(registrar[Key::name].text(registrar[Key::type].text())),
          plural(added.count(), "operator") + " added, room for " + std::to_string(room.count()),
          {registrar.where(), "made with this room here"});
    }
  }
}

}  // namespace

extern constinit const Rule registrar_capacity{
    .id = "registrar-capacity",
    .title = "resolver of fixed size is given more operators than it has room for",
    .rationale =
        "A resolver for small devices has its room in its type. Each addition beyond it gives back "
        "an error, which is easily overlooked, and the operator is missing: loading the model "
        "fails on the device.",
    .example =
        R"({"opseal_manifest": 1, "registrars": [{"type": "MicroMutableOpResolver", "name": "resolver", "max": 5, "calls": 7}]})",
    .fix = "raise the number in the type to that of the operators",
    .severity = Severity::error,
    .inspects = "resolver of fixed size with the operators that are added on every path",
    .needs = {Key::registrars, Key::max, Key::calls},
    .check = check,
};

}  // namespace opseal
