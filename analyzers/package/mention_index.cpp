#include "analyzers/package/mention_index.h"

#include <algorithm>

#include "analyzers/package/python_mentions.h"

namespace opseal {
namespace {

// The largest wheels have some ten thousand modules and some hundred names of libraries.
constexpr std::size_t most_modules = 1'000'000;
constexpr std::size_t most_libraries = 20'000;
constexpr std::size_t most_patterns = 100;
// Longer than any file system takes.
constexpr std::size_t longest_name = 255;
// A reader of a finding looks at one or two.
constexpr std::size_t most_places = 8;

}  // namespace

void MentionIndex::keep(std::unordered_map<std::string, Places>& map, const std::string& name,
                        PackagePlace place, std::size_t most) {
  auto found = map.find(name);
  if (found == map.end()) {
    if (map.size() >= most) return;
    found = map.emplace(name, Places{}).first;
    if (&map == &libraries_ && name.find_first_of("*?") != name.npos &&
        patterns_.size() < most_patterns) {
      patterns_.push_back(name);
    }
  }
  Places& places = found->second;
  if (places.size() == most_places || (!places.empty() && places.back() == place)) return;
  places.push_back(place);
}

void MentionIndex::add_file(std::uint32_t file, std::string_view text, std::string_view path) {
  const PythonMentions mentions = find_python_mentions(text, path);
  for (const PythonMention& one : mentions.imports) {
    keep(modules_, one.name, {file, one.line}, most_modules);
  }
  for (const PythonMention& one : mentions.libraries) {
    keep(libraries_, one.name, {file, one.line}, most_libraries);
  }
}

std::vector<PackagePlace> MentionIndex::imports_of(std::string_view path) const {
  const auto found = modules_.find(module_of_extension(path));
  return found == modules_.end() ? Places{} : found->second;
}

std::vector<PackagePlace> MentionIndex::names_of(std::string_view file_name) const {
  Places places;
  if (file_name.size() > longest_name) return places;
  const auto take = [&](const std::string& name) {
    const auto found = libraries_.find(name);
    if (found == libraries_.end()) return;
    places.insert(places.end(), found->second.begin(), found->second.end());
  };
  // Mentions name the file up to its end or up to the beginning of a version.
  for (std::size_t end = file_name.find('.'); end != file_name.npos;
       end = file_name.find('.', end + 1)) {
    take(std::string(file_name.substr(0, end)));
  }
  take(std::string(file_name));
  for (const std::string& pattern : patterns_) {
    if (mention_fits(pattern, file_name)) take(pattern);
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  if (places.size() > most_places) places.resize(most_places);
  return places;
}

std::vector<std::string> MentionIndex::names() const {
  std::vector<std::string> names;
  for (const auto& [name, places] : libraries_) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace opseal
