#include "compare/library_names.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

#include "opseal/paths.h"

namespace opseal {
namespace {

bool is_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == text.npos;
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

enum class NameBy : std::uint8_t { file, place, path };

// One side: what its libraries are paired by.
class NamedSet {
 public:
  // The same text may be a file's name and another's path.
  using Names = std::map<std::pair<NameBy, std::string>, Fact>;

  explicit NamedSet(const LibrarySet& set)
      : front_(set.files ? common_directory(set).size() : 0), rest_(set.libraries) {}

  void add_shared(NameBy by, std::set<std::string>& shared) const {
    std::set<std::string> seen;
    for (const Fact library : rest_) {
      std::string name = name_of(library, by);
      if (!seen.insert(name).second) shared.insert(std::move(name));
    }
  }

  // Names what has no name yet, but for what would get one of `shared`.
  void take(NameBy by, const std::set<std::string>& shared) {
    std::vector<Fact> left;
    for (const Fact library : rest_) {
      std::string name = name_of(library, by);
      if (shared.contains(name)) {
        left.push_back(library);
      } else {
        names_.emplace(std::pair(by, std::move(name)), library);
      }
    }
    rest_ = std::move(left);
  }

  const Names& names() const { return names_; }

 private:
  std::string name_of(const Fact& library, NameBy by) const {
    const std::string_view path = library[Key::path].text();
    const std::string_view place = path.substr(front_);
    if (by == NameBy::path) return std::string(place);
    if (by == NameBy::file) return lasting_name(path);
    return std::string(place.substr(0, place.rfind('/') + 1)) + lasting_name(path);
  }

  // Bytes of the directory that all files of the side lie in.
  std::size_t front_;
  std::vector<Fact> rest_;
  Names names_;
};

bool is_one_file(const NamedSet::Names& names) {
  return names.size() == 1 && names.begin()->second[Key::format].said();
}

}  // namespace

std::string lasting_name(std::string_view path) {
  const std::string_view name = file_name_of(path);
  const std::size_t suffix = name.find(".so");
  std::string_view stem = name.substr(0, suffix);
  const std::string_view behind = suffix == name.npos ? std::string_view() : name.substr(suffix);
  stem = stem.substr(0, stem.find(".cpython-"));
  constexpr std::string_view stable = ".abi3";
  if (stem.ends_with(stable)) stem.remove_suffix(stable.size());
  constexpr std::size_t digits = 8;
  if (stem.size() > digits + 1 && stem[stem.size() - digits - 1] == '-' &&
      is_hex(stem.substr(stem.size() - digits))) {
    stem.remove_suffix(digits + 1);
  }
  return std::string(stem) + std::string(behind);
}

PairedLibraries pair_libraries(const LibrarySet& before, const LibrarySet& after) {
  NamedSet then(before);
  NamedSet now(after);
  for (const NameBy by : {NameBy::file, NameBy::place, NameBy::path}) {
    std::set<std::string> shared;
    if (by != NameBy::path) {
      then.add_shared(by, shared);
      now.add_shared(by, shared);
    }
    then.take(by, shared);
    now.take(by, shared);
  }
  // Two files that were given are two builds of one thing, whatever they are called.
  if (is_one_file(then.names()) && is_one_file(now.names())) {
    return {{{then.names().begin()->second, now.names().begin()->second}}, {}, {}};
  }
  PairedLibraries paired;
  for (const auto& [name, library] : then.names()) {
    const auto found = now.names().find(name);
    if (found == now.names().end()) {
      paired.removed.push_back(library);
    } else {
      paired.pairs.emplace_back(library, found->second);
    }
  }
  for (const auto& [name, library] : now.names()) {
    if (!then.names().contains(name)) paired.added.push_back(library);
  }
  return paired;
}

}  // namespace opseal
