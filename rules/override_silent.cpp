#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/sources.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// What the registry is called.
std::string registry_name(const Fact& manifest) {
  // Of sources, the table that its entries are kept in.
  if (is_of_sources(manifest)) {
    for (const Fact row : manifest[Key::dispatch].items()) {
      const Fact table = row[Key::table][Key::name];
      if (table.is_text()) return "registry " + std::string(table.text());
    }
  }
  for (const Fact name : {manifest[Key::producer][Key::name], manifest[Key::system]}) {
    if (name.is_text()) return std::string(name.text());
  }
  return "registry";
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    const Fact policy = manifest[Key::on_duplicate];
    if (!policy.is_text()) continue;
    sink.inspected();
    if (!policy.is("replace") && !policy.is("ignore")) continue;
    sink.add(registry_name(manifest),
             policy.is("replace") ? "a second registration of a name silently replaces the first"
                                  : "a second registration of a name is silently ignored",
             evidence(policy, "what the registry does by default"));
  }
}

}  // namespace

extern constinit const Rule override_silent{
    .id = "override-silent",
    .title = "registry keeps one of two equal names without a word",
    .rationale =
        "Two packages that choose one name both register without an error, and which kernel runs "
        "depends on the order of imports. No log says that a kernel was lost, so that the one "
        "whose operator changed under him looks for the fault in his own code. A registry that "
        "refuses or at least warns shows the clash on the first import, before anybody has numbers "
        "from it.",
    .example = R"({"opseal_manifest": 1, "system": "engine", "on_duplicate": "replace"})",
    .fix = "raise on a second registration, and let callers who mean it ask for a replacement",
    .severity = Severity::warning,
    .profile = Profile::strict,
    .inspects = "registry that says what it does with a second registration of a name",
    .needs = {Key::on_duplicate},
    .check = check,
};

}  // namespace opseal
