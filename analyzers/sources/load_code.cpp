#include "analyzers/sources/load_code.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>

#include "analyzers/source/source_tree.h"
#include "analyzers/words.h"
#include "opseal/side_by_side.h"

namespace opseal {
namespace {

// Code of one backend above this is not looked into: functions are followed in memory.
constexpr std::size_t most_backend_bytes = std::size_t{64} << 20;
constexpr std::size_t most_header_bytes = std::size_t{2} << 20;

// The nearest of the folders that a path lies in; null where it lies in none.
const std::string_view* nearest(const std::set<std::string_view>& folders, std::string_view path) {
  for (std::string_view folder = folder_of(path);; folder = folder_of(folder)) {
    const auto found = folders.find(folder);
    if (found != folders.end()) return &*found;
    if (folder.empty()) return nullptr;
  }
}

// Headers that a file includes from its own folder: the lists that it asks may stand there.
std::vector<std::size_t> included_beside(std::string_view bytes,
                                         const std::vector<std::string>& paths, std::size_t file) {
  constexpr std::string_view mark = "#include \"";
  constexpr std::size_t most_headers = 64;
  std::vector<std::size_t> found;
  const std::string_view folder = folder_of(paths[file]);
  for (std::size_t at = bytes.find(mark); at != bytes.npos && found.size() < most_headers;
       at = bytes.find(mark, at + 1)) {
    const std::size_t begin = at + mark.size();
    const std::size_t end = bytes.find_first_of("\"\n", begin);
    if (end == bytes.npos) break;
    std::string name(bytes.substr(begin, end - begin));
    name.erase(0, name.rfind('/') == name.npos ? 0 : name.rfind('/') + 1);
    const std::string path = folder.empty() ? name : std::string(folder) + "/" + name;
    const auto place = std::lower_bound(paths.begin(), paths.end(), path);
    const auto number = static_cast<std::size_t>(place - paths.begin());
    const bool is_there = place != paths.end() && *place == path && number != file;
    if (is_there && std::find(found.begin(), found.end(), number) == found.end()) {
      found.push_back(number);
    }
  }
  return found;
}

}  // namespace

std::vector<DispatchPair> load_dispatch_pairs(const std::vector<std::string>& paths,
                                              const std::vector<std::size_t>& asking,
                                              const std::vector<std::size_t>& naming,
                                              const PairOptions& options, unsigned threads,
                                              const SourceTexts& texts) {
  if (asking.empty() && naming.empty()) return {};
  // Headers declare predicates and assign none.
  std::set<std::string_view> folders;
  for (const std::size_t file : asking) {
    if (!is_header_path(paths[file])) folders.insert(folder_of(paths[file]));
  }
  std::map<std::string_view, std::vector<std::size_t>> backends;
  CodeFunctions enumerations;
  const WordQuery enumeration(std::vector<std::string>{"enum"});
  std::string bytes;
  for (std::size_t file = 0; file < paths.size(); ++file) {
    if (!is_source_path(paths[file])) continue;
    if (const std::string_view* folder = nearest(folders, paths[file])) {
      backends[*folder].push_back(file);
    }
    if (is_header_path(paths[file]) && texts.read_holding(enumeration, file, bytes) &&
        bytes.size() <= most_header_bytes) {
      enumerations.add_enumerations(bytes);
    }
  }
  std::vector<std::vector<std::size_t>> groups;
  for (auto& [folder, files] : backends) groups.push_back(std::move(files));
  for (const std::size_t file : naming) {
    if (nearest(folders, paths[file]) != nullptr || !texts.read(file, bytes)) continue;
    groups.push_back(included_beside(bytes, paths, file));
    groups.back().push_back(file);
  }
  std::vector<std::vector<DispatchPair>> found(groups.size());
  std::atomic<std::size_t> next{0};
  side_by_side(threads, threads, [&](std::size_t) {
    for (std::size_t group = next++; group < groups.size(); group = next++) {
      CodeFunctions code;
      std::size_t total = 0;
      for (const std::size_t file : groups[group]) {
        std::string text;
        if (!texts.read(file, text)) continue;
        total += text.size();
        if (total > most_backend_bytes) break;
        const auto stated = options.stated.find(file);
        code.add(static_cast<std::uint32_t>(file), paths[file], std::move(text),
                 stated == options.stated.end() ? StatedEnumerators() : stated->second);
      }
      if (total <= most_backend_bytes) {
        code.resolve_names(enumerations);
        found[group] = find_dispatch_pairs(code, enumerations, options);
      }
    }
  });
  std::vector<DispatchPair> pairs;
  for (std::vector<DispatchPair>& some : found) {
    for (DispatchPair& pair : some) pairs.push_back(std::move(pair));
  }
  return pairs;
}

std::vector<std::size_t> files_of_pairs(const std::vector<std::string>& paths,
                                        const std::vector<std::size_t>& asking,
                                        const std::vector<std::size_t>& naming) {
  std::set<std::string_view> folders;
  for (const std::size_t file : asking) {
    if (!is_header_path(paths[file])) folders.insert(folder_of(paths[file]));
  }
  std::vector<std::size_t> files;
  for (std::size_t file = 0; file < paths.size(); ++file) {
    if (!is_source_path(paths[file]) || is_header_path(paths[file])) continue;
    const bool names = std::binary_search(naming.begin(), naming.end(), file);
    if (names || nearest(folders, paths[file]) != nullptr) files.push_back(file);
  }
  return files;
}

std::vector<AgreeingTables> load_agreeing_tables(const std::vector<std::string>& paths,
                                                 const std::vector<std::size_t>& files,
                                                 const SourceTexts& texts) {
  if (files.empty()) return {};
  CodeFunctions code;
  std::size_t total = 0;
  for (const std::size_t file : files) {
    std::string text;
    if (!is_source_path(paths[file]) || !texts.read(file, text)) continue;
    total += text.size();
    if (total > most_backend_bytes) return {};
    code.add(static_cast<std::uint32_t>(file), paths[file], std::move(text));
  }
  CodeFunctions headers;
  const std::vector<std::string> unknown = unknown_enumerators(code);
  if (!unknown.empty()) {
    const WordQuery any_name(unknown);
    std::string bytes;
    for (std::size_t file = 0; file < paths.size(); ++file) {
      if (!is_header_path(paths[file]) || !texts.read_holding(any_name, file, bytes)) continue;
      if (bytes.size() > most_header_bytes || bytes.find("enum") == bytes.npos) continue;
      headers.add_enumerations(bytes);
    }
  }
  return find_agreeing_tables(code, headers);
}

std::string_view system_of(const std::vector<DispatchPair>& pairs) {
  const bool is_ggml = std::all_of(pairs.begin(), pairs.end(), [](const DispatchPair& pair) {
    return pair.python || pair.enumeration.starts_with("ggml_");
  });
  const bool has_code = std::any_of(pairs.begin(), pairs.end(),
                                    [](const DispatchPair& pair) { return !pair.python; });
  return is_ggml && has_code ? "ggml" : "engine";
}

}  // namespace opseal
