// Which libraries two sides hold, and what is said of each.

#include <string>

#include "compare/change_members.h"
#include "compare/library_names.h"
#include "compare/library_sets.h"

namespace opseal {
namespace {

using enum Impact;

constexpr Judgement fewer{breaking, "what needs them finds none"};
constexpr Judgement more{additive, "more machines or callers are served"};

constexpr Judged rows[] = {
    {.key = Key::architectures, .worse_if = Worse::lost, .worse = fewer, .better = more},
    {.key = Key::functions, .worse_if = Worse::lost, .worse = fewer, .better = more},
    {.key = Key::symbols_prefix,
     .worse = {breaking, "who looks up symbols by the old prefix finds none"}},
    {.key = Key::entry, .worse = {breaking, "who calls the old entry point finds none"}},
};

void compare_sets(ChangeList& list, const LibrarySet& before, const LibrarySet& after) {
  const PairedLibraries libraries = pair_libraries(before, after);
  for (const auto& [then, now] : libraries.pairs) {
    const std::string subject(then[Key::path].text());
    compare_members({list, subject, "library", {}, {}}, rows, then, now);
    compare_library_content(list, subject, then, now);
  }
  for (const Fact library : libraries.removed) {
    if (!after.known) break;
    list.add(breaking, "library-removed", std::string(library[Key::path].text()),
             "no such library any more", "what links or loads it by this path fails", library,
             after.files ? Fact() : after.manifest[Key::libraries]);
  }
  for (const Fact library : libraries.added) {
    if (!before.known) break;
    list.add(additive, "library-added", std::string(library[Key::path].text()), "new library",
             "there is more to load", before.files ? Fact() : before.manifest[Key::libraries],
             library);
  }
  compare_needs(list, before, after);
}

}  // namespace

void compare_libraries(ChangeList& list, const Facts& facts) {
  const LibrarySets sets = library_sets(facts);
  for (const auto& [before, after] : sets.pairs) {
    compare_packages(list, before, after);
    compare_sets(list, before, after);
  }
  for (const LibrarySet& set : sets.removed) {
    list.add(breaking, "package-removed", subject_of(set), "no such package any more",
             "who installs or needs it finds none", set.distribution(), Fact());
  }
  for (const LibrarySet& set : sets.added) {
    list.add(additive, "package-added", subject_of(set), "new package", "there is more to install",
             Fact(), set.distribution());
  }
}

}  // namespace opseal
