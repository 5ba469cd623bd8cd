#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    for (const Fact registrar : facts.root(document)[Key::registrars].items()) {
      const Fact uses = registrar[Key::uses];
      if (!uses.is_list() || !registrar[Key::type].is_text()) continue;
      sink.inspected();
      for (const Fact use : uses.items()) {
        const Fact object = use[Key::name];
        if (!object.is_text()) continue;
        const std::string_view name = registrar[Key::name].text(registrar[Key::type].text());
        Finding& finding =
            sink.add(std::string(name),
                     "initialization of " + quote(name) + " reads " + quote(object.text()) +
                         " of another file, which may not be initialized by then",
                     {registrar.where(), "made here"});
        if (object.where() != registrar.where()) {
          finding.related.push_back({object.where(), "read here"});
        }
        finding.related.push_back({use.where(), "initialized here, by code"});
      }
    }
  }
}

}  // namespace

extern constinit const Rule registrar_static_order{
    .id = "registrar-static-order",
    .title = "registration reads an object that another file has yet to initialize",
    .rationale =
        "Objects of different source files are initialized in an order that the linker picks. A "
        "registrar that runs before `main` and fills a table of another file may come first: then "
        "it writes into memory that is no table yet, and what it wrote is lost when the table is "
        "made, or the program crashes before `main`. Whether it does depends on the order of the "
        "files on the command line of the linker, so that it begins with a change of the build, "
        "and only there.",
    .example =
        R"json({"opseal_manifest": 1, "registrars": [{"type": "Registrar", "name": "scale", "uses": [{"name": "kernels::table"}]}]})json",
    .fix =
        "hand the table out by a function that keeps it as a `static` of its own, which is made "
        "when it is first asked for",
    .severity = Severity::warning,
    .inspects =
        "object that registers, with the objects of other files that its initialization "
        "reads",
    .needs = {Key::registrars, Key::uses},
    .check = check,
};

}  // namespace opseal
