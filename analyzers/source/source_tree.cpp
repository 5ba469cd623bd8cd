#include "analyzers/source/source_tree.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "opseal/paths.h"

namespace opseal {
namespace {

// Of files with one name that many a tree has, so many are asked which one is nearest.
constexpr std::size_t most_candidates = 256;

bool ends_with_one_of(std::string_view path, std::span<const std::string_view> suffixes) {
  const std::string_view name = file_name_of(path);
  const std::size_t dot = name.rfind('.');
  if (dot == name.npos) return false;
  return std::find(suffixes.begin(), suffixes.end(), name.substr(dot)) != suffixes.end();
}

constexpr std::string_view unit_suffixes[] = {".c",  ".cc", ".cpp", ".cxx", ".c++",
                                              ".cu", ".mm", ".hip", ".sycl"};
constexpr std::string_view header_suffixes[] = {".h",   ".hh",  ".hpp", ".hxx", ".h++", ".cuh",
                                                ".inc", ".inl", ".ipp", ".tcc", ".def"};

bool is_backwards_less(std::string_view a, std::string_view b) {
  return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

std::string_view folder_of(std::string_view path) {
  return path.substr(0, path.size() - file_name_of(path).size());
}

// Takes `.` and `..` out, as far as the text itself allows it.
std::string normal_path(std::string_view path) {
  std::vector<std::string_view> parts;
  const bool is_absolute = path.starts_with('/');
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), part.size() + 1));
    if (part.empty() || part == ".") continue;
    if (part == ".." && !parts.empty() && parts.back() != "..") {
      parts.pop_back();
    } else {
      parts.push_back(part);
    }
  }
  std::string normal = is_absolute ? "/" : "";
  for (const std::string_view part : parts) {
    if (!normal.empty() && normal.back() != '/') normal += '/';
    normal += part;
  }
  return normal;
}

// What to look for where a macro may be used. A short name is found in many others, less often with
// its bracket.
std::string needle_of(const std::string& macro) {
  constexpr std::size_t short_name = 6;
  return macro.size() < short_name ? macro + "(" : macro;
}

std::size_t common_beginning(std::string_view a, std::string_view b) {
  const auto [end, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(end - a.begin());
}

// Which macros of many headers lead to a word of the vocabulary.
class Reach {
 public:
  void add(const MacroDefinition& definition) {
    macros_[definition.name].definitions.push_back(&definition);
  }

  bool reaches(std::string_view name, int depth = 0) {
    const auto found = macros_.find(name);
    if (found == macros_.end()) return false;
    Macro& macro = found->second;
    if (macro.known || depth > 20) return macro.reaches;
    // Until it is known it reaches nothing, so that a circle ends.
    macro.known = true;
    for (const MacroDefinition* definition : macro.definitions) {
      macro.reaches = macro.reaches || definition->has_seed;
    }
    for (const MacroDefinition* definition : macro.definitions) {
      for (const Token& token : definition->body) {
        if (macro.reaches) return true;
        macro.reaches = token.is_identifier() && reaches(token.text, depth + 1);
      }
    }
    return macro.reaches;
  }

  template <typename Visit>
  void for_each(Visit visit) {
    for (auto& [name, macro] : macros_) visit(name);
  }

 private:
  struct Macro {
    std::vector<const MacroDefinition*> definitions;
    bool known = false;
    bool reaches = false;
  };

  std::unordered_map<std::string_view, Macro> macros_;
};

std::unique_ptr<const Header> header_of(std::string text, const Vocabulary& vocabulary) {
  auto header = std::make_unique<Header>();
  read_header(
      std::move(text), no_file, vocabulary, [](std::string_view) { return no_file; }, *header);
  return header;
}

}  // namespace

bool is_header_path(std::string_view path) { return ends_with_one_of(path, header_suffixes); }

bool is_source_path(std::string_view path) {
  return ends_with_one_of(path, unit_suffixes) || is_header_path(path);
}

SourceTree::SourceTree(std::vector<std::string> paths, const Vocabulary& vocabulary,
                       ReadSource read, std::string stated_macros)
    : paths_(std::move(paths)), vocabulary_(vocabulary), read_(std::move(read)) {
  std::erase_if(paths_, [](const std::string& path) { return !is_source_path(path); });
  std::sort(paths_.begin(), paths_.end());
  paths_.erase(std::unique(paths_.begin(), paths_.end()), paths_.end());
  by_suffix_.resize(paths_.size());
  for (FileId file = 0; file < paths_.size(); ++file) by_suffix_[file] = file;
  std::sort(by_suffix_.begin(), by_suffix_.end(),
            [this](FileId a, FileId b) { return is_backwards_less(paths_[a], paths_[b]); });
  headers_ = std::make_unique<std::atomic<const Header*>[]>(paths_.size());
  prelude_ = header_of(std::string(vocabulary.prelude), vocabulary);
  stated_macros_ = header_of(std::move(stated_macros), vocabulary);
  needles_ = std::make_unique<Needles>(first_needles());
}

// What a file mentions that is looked at, as far as it is known without the project's headers.
std::vector<std::string> SourceTree::first_needles() const {
  std::vector<std::string> words(vocabulary_.needles.begin(), vocabulary_.needles.end());
  for (const MacroDefinition& macro : stated_macros_->definitions) {
    words.push_back(needle_of(std::string(macro.name)));
  }
  return words;
}

SourceTree::~SourceTree() {
  for (std::size_t file = 0; file < paths_.size(); ++file) delete headers_[file].load();
}

std::vector<FileId> SourceTree::suffixes_of(std::string_view text) const {
  std::vector<FileId> found;
  auto at = std::lower_bound(by_suffix_.begin(), by_suffix_.end(), text,
                             [this](FileId file, std::string_view other) {
                               return is_backwards_less(paths_[file], other);
                             });
  for (; at != by_suffix_.end() && found.size() < most_candidates; ++at) {
    const std::string_view path = paths_[*at];
    if (!path.ends_with(text)) break;
    if (path.size() == text.size() || path[path.size() - text.size() - 1] == '/') {
      found.push_back(*at);
    }
  }
  return found;
}

FileId SourceTree::resolve(std::string_view text, FileId from) const {
  if (text.empty()) return no_file;
  const std::string_view asking = from < paths_.size() ? std::string_view(paths_[from]) : "";
  const std::string beside = normal_path(std::string(folder_of(asking)) + std::string(text));
  const auto exact = std::lower_bound(paths_.begin(), paths_.end(), beside);
  if (exact != paths_.end() && *exact == beside) {
    return static_cast<FileId>(exact - paths_.begin());
  }
  std::string wanted = normal_path(text);
  // What lies above the folders that are known is found by the rest.
  while (wanted.starts_with("../")) wanted.erase(0, 3);
  FileId best = no_file;
  for (const FileId file : suffixes_of(wanted)) {
    if (file == from) continue;
    if (best == no_file) {
      best = file;
      continue;
    }
    const std::size_t shared = common_beginning(paths_[file], asking);
    const std::size_t best_shared = common_beginning(paths_[best], asking);
    if (shared != best_shared ? shared > best_shared : paths_[file].size() < paths_[best].size()) {
      best = file;
    }
  }
  return best;
}

const Header& SourceTree::header(FileId file) const {
  const Header* known = headers_[file].load(std::memory_order_acquire);
  if (known != nullptr) return *known;
  // Two threads may read the same header; the second throws its own away.
  auto made = std::make_unique<Header>();
  std::string bytes;
  if (read(file, bytes) && bytes.size() <= most_header_bytes) {
    read_header(
        std::move(bytes), file, vocabulary_,
        [this, file](std::string_view text) { return resolve(text, file); }, *made);
  }
  const Header* expected = nullptr;
  if (headers_[file].compare_exchange_strong(expected, made.get(), std::memory_order_acq_rel)) {
    return *made.release();
  }
  return *expected;
}

std::vector<std::string> SourceTree::macros_that_register(
    const std::vector<FileId>& headers) const {
  Reach reach;
  for (const FileId file : headers) {
    for (const MacroDefinition& definition : header(file).definitions) reach.add(definition);
  }
  std::vector<std::string> names;
  reach.for_each([&](std::string_view name) {
    if (reach.reaches(name)) names.emplace_back(name);
  });
  std::sort(names.begin(), names.end());
  return names;
}

void SourceTree::discover(const MayHold& may_hold, const MayStart& may_start) {
  std::vector<FileId> rest;
  const WordQuery define(std::vector<std::string>{"define"});
  for (FileId file = 0; file < paths_.size(); ++file) {
    if (is_header_path(paths_[file]) && (!may_hold || may_hold(file, define))) rest.push_back(file);
  }
  // Headers that build on each other's macros are found one round after the other.
  constexpr int most_rounds = 4;
  std::vector<FileId> found;
  std::vector<std::string> words = first_needles();
  for (std::string& word : macro_starts()) words.push_back(std::move(word));
  for (int round = 0; round < most_rounds; ++round) {
    const Needles needles(words);
    // What is looked for first are parts of words too.
    const bool by_word = may_hold && round > 0;
    const WordQuery macros(round > 0 ? words : std::vector<std::string>());
    const std::size_t before = found.size();
    std::vector<FileId> others;
    std::string bytes;
    for (const FileId file : rest) {
      const bool is_out = by_word ? !may_hold(file, macros) : may_start && !may_start(file);
      if (is_out) {
        others.push_back(file);
        continue;
      }
      if (!read(file, bytes) || bytes.size() > most_header_bytes) continue;
      const bool is_hit = bytes.find("define") != bytes.npos && needles.occur_in(bytes);
      (is_hit ? found : others).push_back(file);
    }
    if (found.size() == before) break;
    rest = std::move(others);
    project_macros_ = macros_that_register(found);
    words.clear();
    for (const std::string& macro : project_macros_) words.push_back(needle_of(macro));
  }
  words = first_needles();
  for (const std::string& macro : project_macros_) words.push_back(needle_of(macro));
  needles_ = std::make_unique<Needles>(std::move(words));
}

}  // namespace opseal
