// Which libraries two sides hold, and what is said of each.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "compare/change_members.h"
#include "compare/library_sets.h"
#include "opseal/paths.h"
#include "opseal/registration.h"
#include "opseal/text.h"

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

bool is_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == text.npos;
}

// What one file is called in two builds: without the digest that `auditwheel` puts into the names
// of what it adds (`libgomp-a34b3233.so.1`), and the interpreter that a module is for
// (`_x.cpython-311-x86_64-linux-gnu.so`).
std::string lasting_name(std::string_view path) {
  const std::string_view name = file_name_of(path);
  const std::size_t suffix = name.find(".so");
  std::string_view stem = name.substr(0, suffix);
  const std::string_view behind = suffix == name.npos ? std::string_view() : name.substr(suffix);
  stem = stem.substr(0, stem.find(".cpython-"));
  constexpr std::size_t digits = 8;
  if (stem.size() > digits + 1 && stem[stem.size() - digits - 1] == '-' &&
      is_hex(stem.substr(stem.size() - digits))) {
    stem.remove_suffix(digits + 1);
  }
  return std::string(stem) + std::string(behind);
}

// The directory that all files lie in, with its `/`.
std::string_view common_directory(const LibrarySet& set) {
  std::string_view common;
  for (const Fact library : set.libraries) {
    const std::string_view path = library[Key::path].text();
    const std::string_view directory = path.substr(0, path.rfind('/') + 1);
    if (library == set.libraries.front()) common = directory;
    while (!directory.starts_with(common)) {
      common.remove_suffix(1);
      common = common.substr(0, common.rfind('/') + 1);
    }
  }
  return common;
}

using ByName = std::map<std::string, Fact>;

enum class NameBy : std::uint8_t { file, place, path };

// What a library is paired by. `front`: bytes of the directory that all files of its side lie in.
std::string name_of(std::string_view path, std::size_t front, NameBy by) {
  const std::string_view place = path.substr(front);
  if (by == NameBy::path) return std::string(place);
  if (by == NameBy::file) return lasting_name(path);
  return std::string(place.substr(0, place.rfind('/') + 1)) + lasting_name(path);
}

// False where two libraries have one name.
bool add_names(const LibrarySet& set, NameBy by, ByName& to) {
  const std::size_t front = set.files ? common_directory(set).size() : 0;
  bool distinct = true;
  for (const Fact library : set.libraries) {
    const std::string_view path = library[Key::path].text();
    distinct = to.emplace(name_of(path, front, by), library).second && distinct;
  }
  return distinct;
}

// Libraries by the name of the file, or by more of the path where two of one side have the same:
// two builds seldom lie in one place.
std::pair<ByName, ByName> names_of(const LibrarySet& before, const LibrarySet& after) {
  std::pair<ByName, ByName> names;
  for (const NameBy by : {NameBy::file, NameBy::place, NameBy::path}) {
    names = {};
    const bool distinct = add_names(before, by, names.first);
    if (add_names(after, by, names.second) && distinct) break;
  }
  return names;
}

void compare_sets(ChangeList& list, const LibrarySet& before, const LibrarySet& after) {
  auto [then, now] = names_of(before, after);
  // Two files that were given are two builds of one thing, whatever they are called.
  if (then.size() == 1 && now.size() == 1 && then.begin()->second[Key::format].said() &&
      now.begin()->second[Key::format].said()) {
    now = {{then.begin()->first, now.begin()->second}};
  }
  for (const auto& [name, library] : then) {
    const std::string subject(library[Key::path].text());
    const auto found = now.find(name);
    if (found != now.end()) {
      compare_members({list, subject, "library", {}, {}}, rows, library, found->second);
      compare_library_content(list, subject, library, found->second);
    } else if (after.known) {
      list.add(breaking, "library-removed", subject, "no such library any more",
               "what links or loads it by this path fails", library,
               after.files ? Fact() : after.manifest[Key::libraries]);
    }
  }
  for (const auto& [name, library] : now) {
    if (then.contains(name) || !before.known) continue;
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
