#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    for (const Fact registrar : facts.root(document)[Key::registrars].items()) {
      const Fact library = registrar[Key::library];
      const Fact targets = registrar[Key::loaded_by];
      if (!library.is_text() || !targets.is_list()) continue;
      sink.inspected();
      std::vector<std::string> names;
      for (const Fact target : targets.items()) {
        if (target.is_text()) names.emplace_back(target.text());
      }
      if (names.empty()) continue;
      Finding& finding = sink.add(
          std::string(library.text()),
          "what is registered here is in the static library " + quote(library.text()) +
              ", of which " + quote_list(names) + (names.size() == 1 ? " takes" : " take") +
              " only the files that it names something of, and of this one it names nothing",
          {registrar.where(), "registered here"});
      for (const Fact target : targets.items()) {
        if (target.is_text()) finding.related.push_back({target.where(), "linked here"});
      }
    }
  }
}

}  // namespace

extern constinit const Rule registrar_dropped{
    .id = "registrar-dropped",
    .title = "registration in a static library that the linker leaves out",
    .rationale =
        "Of a static library the linker takes the object files that define something which is "
        "still missing. A file that only registers is named by nobody, so it isn't taken, and what "
        "it registers does not exist in the program: no message of the build tells, and the "
        "operator is unknown when it is looked up. Tests that compile the sources themselves don't "
        "see it.",
    .example =
        R"json({"opseal_manifest": 1, "registrars": [{"type": "TORCH_LIBRARY", "library": "ops", "loaded_by": ["app"]}]})json",
    .fix =
        "make it an OBJECT library, link it as a whole (`$<LINK_LIBRARY:WHOLE_ARCHIVE,ops>`, "
        "`-Wl,--whole-archive`, `-force_load`), or call a function of the file",
    .severity = Severity::warning,
    .inspects = "file that registers and lies in a static library",
    .needs = {Key::registrars, Key::loaded_by},
    .check = check,
};

}  // namespace opseal
