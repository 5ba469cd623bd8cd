#include "compare/library_sets.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "opseal/registration.h"

namespace opseal {
namespace {

// Built files that were given by themselves, rather than by somebody who says more about them.
bool is_file(const Fact& manifest) {
  for (const Key key : {Key::system, Key::distribution, Key::operators, Key::targets}) {
    if (manifest[key].said()) return false;
  }
  for (const Fact library : manifest[Key::libraries].items()) {
    if (!library[Key::format].said()) return false;
  }
  return true;
}

// Some file could not be read at all, and which side it is of nobody knows.
bool misses_files(const Facts& facts) {
  std::set<std::uint32_t> read;
  for (const Document& document : facts.documents) read.insert(document.file);
  return std::any_of(facts.problems.begin(), facts.problems.end(), [&read](const Problem& problem) {
    return problem.severity == Severity::error && problem.where.known() &&
           !read.contains(problem.where.file);
  });
}

// What the sets of two sides are joined by, and which one of equal ones.
using SetKey = std::tuple<std::string_view, std::string_view, std::size_t>;
using Half = std::map<SetKey, LibrarySet>;

Half half_of(const Facts& facts, Side side, bool complete) {
  Half half;
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> seen;
  LibrarySet files;
  files.files = true;
  files.known = complete;
  for (const Document& document : facts.documents) {
    if (document.side != side || document.settings || document.named) continue;
    const Fact manifest = facts.root(document);
    const Fact list = manifest[Key::libraries];
    if (!list.is_list()) continue;
    LibrarySet set;
    LibrarySet& to = is_file(manifest) ? files : set;
    if (to.libraries.empty()) to.manifest = manifest;
    to.known = to.known && all_read(list);
    for (const Fact library : list.items()) {
      if (library[Key::path].is_text()) to.libraries.push_back(library);
    }
    if (&to == &files) continue;
    const std::string_view system = manifest[Key::system].text();
    const std::string_view name = manifest[Key::distribution][Key::name].text();
    half.emplace(SetKey{system, name, seen[{system, name}]++}, std::move(set));
  }
  constexpr std::size_t last = std::numeric_limits<std::size_t>::max();
  if (files.manifest.said()) half.emplace(SetKey{"", "", last}, std::move(files));
  return half;
}

}  // namespace

LibrarySets library_sets(const Facts& facts) {
  const bool complete = !misses_files(facts);
  Half before = half_of(facts, Side::before, complete);
  Half after = half_of(facts, Side::after, complete);
  LibrarySets sets;
  const auto take = [&](Half::iterator left, Half::iterator right) {
    sets.pairs.emplace_back(std::move(left->second), std::move(right->second));
    after.erase(right);
    return before.erase(left);
  };
  for (auto left = before.begin(); left != before.end();) {
    const auto right = after.find(left->first);
    left = right == after.end() ? std::next(left) : take(left, right);
  }
  if (before.size() == 1 && after.size() == 1) take(before.begin(), after.begin());
  for (auto& [key, set] : before) {
    if (set.distribution().is_object()) sets.removed.push_back(std::move(set));
  }
  for (auto& [key, set] : after) {
    if (set.distribution().is_object()) sets.added.push_back(std::move(set));
  }
  return sets;
}

std::string subject_of(const LibrarySet& set) {
  const Fact package = set.distribution();
  if (package.is_object()) {
    return std::string(package[Key::kind].text("package")) + ' ' +
           std::string(package[Key::name].text("(no name)"));
  }
  return set.libraries.empty() ? std::string("libraries")
                               : std::string(set.libraries.front()[Key::path].text());
}

}  // namespace opseal
