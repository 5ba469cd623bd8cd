#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    for (const Fact registrar : facts.root(document)[Key::registrars].items()) {
      const Fact storage = registrar[Key::storage];
      if (!storage.is_text() || !registrar[Key::type].is_text()) continue;
      // A resolver that is filled and used in one function ends with its user.
      if (registrar[Key::max].said()) continue;
      sink.inspected();
      if (storage.is("static")) continue;
      const std::string type(registrar[Key::type].text());
      const bool is_temporary = storage.is("temporary");
      sink.add(is_temporary ? type : type + " " + std::string(registrar[Key::name].text()),
               quote(type) + " ends with the " + (is_temporary ? "statement" : "function") +
                   " and takes back what it registered; expected an object that lives as long as "
                   "the program",
               {registrar.where(), "made here"});
    }
  }
}

}  // namespace

extern constinit const Rule registrar_automatic{
    .id = "registrar-automatic",
    .title = "object that registers operators ends with the function that makes it",
    .rationale =
        "Such an object owns its registrations: when it is destroyed, they are taken back. Made as "
        "a local variable or a temporary, it registers the operators and removes them again "
        "before anybody can call one. Nothing reports it; the first call says that the operator "
        "doesn't exist.",
    .example =
        R"({"opseal_manifest": 1, "registrars": [{"type": "Library", "name": "lib", "storage": "automatic"}]})",
    .fix = "make the object static, or keep it where it lives as long as the operators are used",
    .severity = Severity::warning,
    .inspects = "object that registers, with its storage",
    .needs = {Key::registrars, Key::storage},
    .check = check,
};

}  // namespace opseal
