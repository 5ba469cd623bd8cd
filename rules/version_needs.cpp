#include "rules/version_needs.h"

#include <string>
#include <vector>

#include "opseal/registration.h"
#include "opseal/text.h"
#include "rules/libraries_by_name.h"
#include "rules/system_libraries.h"
#include "rules/wheel_machine.h"

namespace opseal {
namespace {

// Versions asked of a library that is here and says which ones it defines.
void judge_versions(const PlacedLibrary& one, const LibrariesByName& together, Sink& sink) {
  for (const EntryRange::Entry entry : one.content[Key::version_needs].entries()) {
    const std::vector<const PlacedLibrary*>& providers = together.named(entry.name.text());
    if (providers.empty()) continue;
    for (const Fact version : entry.value.items()) {
      if (!version.is_text()) continue;
      bool judged = true;
      bool defined = false;
      for (const PlacedLibrary* provider : providers) {
        const Fact definitions = provider->content[Key::version_definitions];
        judged = judged && all_read(definitions);
        defined = defined || list_has(definitions, version.text());
      }
      if (!judged) continue;
      sink.inspected();
      if (defined) continue;
      const Fact definitions = providers.front()->content[Key::version_definitions];
      Finding& finding =
          sink.add("library " + std::string(one.path()),
                   "needs version " + quote(version.text()) + " of " + quote(entry.name.text()) +
                       ", the one beside it defines " +
                       (definitions.size() == 0 ? std::string("none")
                                                : quote_list(texts_of(definitions), 4)),
                   evidence(version, "needed here"));
      finding.related.push_back(evidence(definitions, "defined here"));
      finding.fix = "ship the newer library, or build against the one that is shipped";
    }
  }
}

void judge_machine(const LibraryGroup& group, Sink& sink) {
  const Fact distribution = group.front().manifest[Key::distribution];
  const PlacedLibrary* wrong = on_wrong_machine(group);
  if (wrong == nullptr) return;
  sink.inspected();
  const Fact machine = wrong->content[Key::machine];
  Finding& finding = sink.add("library " + std::string(wrong->path()),
                              "is built for " + quote(machine.text()) +
                                  ", and no library of the package for the machine of its tag " +
                                  quote(platform_tag(distribution)),
                              evidence(machine, "the machine it needs"));
  finding.related.push_back(evidence(distribution[Key::tags], "what the package promises"));
  finding.fix = "tag the wheel for the machine of its libraries, or build them for that of the tag";
}

}  // namespace

void check_version_needs(const LibraryGroup& group, Sink& sink) {
  const LibrariesByName together(group);
  for (const PlacedLibrary& one : group) judge_versions(one, together, sink);
  judge_machine(group, sink);
}

}  // namespace opseal
