#include "compare/library_sets.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "opseal/registration.h"
#include "opseal/text.h"
#include "rules/platform_tag.h"

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

// What the sets of two sides are joined by: system, package, what the package is built for, and
// which one of equal ones.
using SetKey = std::tuple<std::string, std::string, std::string, std::size_t>;
using Half = std::map<SetKey, LibrarySet>;

// Installers take `Demo_Ops` and `demo-ops` for one package.
std::string package_name(std::string_view name) {
  std::string out;
  for (const char byte : lower(name)) {
    const bool divides = byte == '-' || byte == '_' || byte == '.';
    if (!divides) {
      out += byte;
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  return out;
}

// Of a wheel's tag what stays from release to release: `cp311-cp311-manylinux x86_64` of
// `cp311-cp311-manylinux_2_28_x86_64`. A release has a wheel for each interpreter and system.
std::string build_of(const Fact& distribution) {
  for (const Fact tag : distribution[Key::tags].items()) {
    const std::string_view text = tag.text();
    const std::size_t dash = text.rfind('-');
    if (dash == text.npos) return std::string(text);
    const auto platform = read_platform_tag(text.substr(dash + 1));
    if (!platform) return std::string(text);
    return std::string(text.substr(0, dash + 1)) + std::string(platform->family) + ' ' +
           std::string(platform->machine);
  }
  return {};
}

Half half_of(const Facts& facts, Side side, bool complete) {
  Half half;
  std::map<SetKey, std::size_t> seen;
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
    const Fact package = manifest[Key::distribution];
    SetKey key{std::string(manifest[Key::system].text()), package_name(package[Key::name].text()),
               build_of(package), 0};
    std::get<3>(key) = seen[key]++;
    half.emplace(std::move(key), std::move(set));
  }
  constexpr std::size_t last = std::numeric_limits<std::size_t>::max();
  if (files.manifest.said()) half.emplace(SetKey{"", "", "", last}, std::move(files));
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
  // What is left of one package is built for something else, and compared all the same.
  for (auto left = before.begin(); left != before.end();) {
    const auto right = std::find_if(after.begin(), after.end(), [&left](const auto& one) {
      return std::get<0>(one.first) == std::get<0>(left->first) &&
             std::get<1>(one.first) == std::get<1>(left->first) &&
             one.second.files == left->second.files;
    });
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
