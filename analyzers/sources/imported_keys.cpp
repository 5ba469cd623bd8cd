// A build that names its output by a function of another file is read as if that file's text stood
// behind its own.

#include "analyzers/sources/imported_keys.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "analyzers/input_error.h"
#include "analyzers/python/cache_keys.h"
#include "analyzers/source/needles.h"
#include "analyzers/words.h"
#include "opseal/text.h"

namespace opseal {
namespace {

constexpr std::size_t max_bytes = std::size_t{1} << 20;
constexpr std::size_t most_makers = 1024;
constexpr std::size_t most_joined = 64;

// Functions of these names may make a key.
bool may_make_key(std::string_view name) {
  const std::string word = lower(name);
  for (const std::string_view part : {"key", "hash", "digest", "fingerprint", "signature", "id"}) {
    if (word.find(part) != word.npos) return true;
  }
  return false;
}

// Calls `visit(line, begin)` for each line.
template <typename Visit>
void for_each_line(std::string_view text, const Visit& visit) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    visit(text.substr(at, end - at), at);
    at = end + 1;
  }
}

bool is_import(std::string_view line) {
  return line.starts_with("import ") || line.starts_with("from ");
}

class ImportedKeys {
 public:
  ImportedKeys(const std::vector<std::string>& paths, const SourceTexts& texts,
               std::vector<FileRecords>& files)
      : paths_(paths), texts_(texts), files_(files) {}

  void run() {
    find_makers();
    if (makers_.empty()) return;
    std::vector<std::string> names;
    for (const auto& [name, file] : makers_) names.push_back(name);
    const WordQuery any_name(names);
    // Whoever starts a build says one of these.
    const WordQuery builds(
        std::vector<std::string>{"subprocess", "system", "nvrtc", "cpp_extension"});
    std::string bytes;
    for (std::size_t at = 0; at < paths_.size() && joined_ < most_joined; ++at) {
      if (!paths_[at].ends_with(".py") || !texts_.may_hold(at, builds)) continue;
      if (!texts_.read_holding(any_name, at, bytes)) continue;
      look_at(at, bytes);
    }
  }

 private:
  // Functions of modules that make digests.
  void find_makers() {
    const WordQuery digests(std::vector<std::string>{"hashlib", "xxhash", "zlib", "blake3"});
    std::string bytes;
    for (std::size_t at = 0; at < paths_.size(); ++at) {
      if (!paths_[at].ends_with(".py") || !texts_.read_holding(digests, at, bytes)) continue;
      for_each_line(bytes, [&](std::string_view line, std::size_t) {
        if (!line.starts_with("def ") || makers_.size() == most_makers) return;
        std::size_t end = 4;
        while (end < line.size() && is_word_byte(line[end])) ++end;
        const std::string_view name = line.substr(4, end - 4);
        if (may_make_key(name)) makers_.emplace(name, at);
      });
    }
  }

  // `.hashing` of `from .hashing import cache_key`: the file that it is, if it is one of those.
  std::optional<std::size_t> home_of(std::size_t from, std::string_view module,
                                     const std::string& name) const {
    std::string_view path = paths_[from];
    const bool relative = module.starts_with('.');
    if (relative) {
      module.remove_prefix(1);
      path = path.substr(0, path.rfind('/') + 1);
      while (module.starts_with('.')) {
        module.remove_prefix(1);
        if (path.empty()) return {};
        path.remove_suffix(1);
        path = path.substr(0, path.rfind('/') + 1);
      }
    }
    std::string wanted(module);
    std::replace(wanted.begin(), wanted.end(), '.', '/');
    wanted = (relative ? std::string(path) : std::string()) + wanted + ".py";
    std::optional<std::size_t> found;
    const auto [first, last] = makers_.equal_range(name);
    for (auto maker = first; maker != last; ++maker) {
      const std::string_view other = paths_[maker->second];
      const bool same =
          relative ? other == wanted : other == wanted || other.ends_with("/" + wanted);
      if (!same || maker->second == from) continue;
      if (found) return {};
      found = maker->second;
    }
    return found;
  }

  void look_at(std::size_t at, const std::string& bytes) {
    for_each_line(bytes, [&](std::string_view line, std::size_t begin) {
      if (!line.starts_with("from ")) return;
      const std::size_t import = line.find(" import ");
      if (import == line.npos) return;
      const std::string_view module = trimmed(line.substr(5, import - 5));
      std::size_t end = begin + line.size();
      // `from m import (`, with the names on the next lines.
      if (line.find('(') != line.npos) end = std::min(bytes.find(')', begin), bytes.size());
      for (std::size_t word = begin + import + 8; word < end;) {
        std::size_t stop = word;
        while (stop < end && is_word_byte(bytes[stop])) ++stop;
        const std::string name = bytes.substr(word, stop - word);
        const bool renamed = bytes.compare(stop, 4, " as ") == 0;
        if (!renamed && may_make_key(name) && makers_.contains(name)) {
          if (const auto home = home_of(at, module, name)) join(at, bytes, word, name, *home);
        }
        word = std::max(stop, word + 1);
      }
    });
  }

  void join(std::size_t at, const std::string& bytes, std::size_t word, const std::string& name,
            std::size_t home) {
    std::string module;
    if (++joined_ > most_joined || !texts_.read(home, module)) return;
    if (bytes.size() + module.size() > max_bytes) return;
    std::string text = bytes;
    // The name is that of the function below; imported is another one.
    text.replace(word, name.size(), std::string(name.size(), '_'));
    // What both import is one thing.
    std::set<std::string_view> imports;
    for_each_line(bytes, [&](std::string_view line, std::size_t) {
      if (is_import(line)) imports.insert(line);
    });
    std::vector<std::pair<std::size_t, std::size_t>> doubled;
    for_each_line(module, [&](std::string_view line, std::size_t begin) {
      if (is_import(line) && line.find('(') == line.npos && imports.contains(line)) {
        doubled.emplace_back(begin, line.size());
      }
    });
    for (const auto& [begin, length] : doubled) module.replace(begin, length, length, ' ');
    if (!text.ends_with('\n')) text += '\n';
    const auto base = static_cast<std::uint32_t>(text.size());
    text += module;
    try {
      const ParsedPython file(text);
      for (PythonCache& cache : find_python_caches(file)) {
        if (cache.place.offset < base) continue;
        if (!taken_.insert({home, cache.place.offset - base}).second) continue;
        if (is_known(home, cache.place.offset - base)) continue;
        CacheRecord record;
        record.file = static_cast<std::uint32_t>(at);
        record.tail = base;
        record.tail_file = static_cast<std::uint32_t>(home);
        record.cache = std::move(cache);
        files_[at].caches.push_back(std::move(record));
      }
    } catch (const InputError&) {
      // Others tell of it.
      return;
    }
  }

  // The file tells of it alone.
  bool is_known(std::size_t home, std::uint32_t offset) const {
    const std::vector<CacheRecord>& caches = files_[home].caches;
    return std::any_of(caches.begin(), caches.end(), [&](const CacheRecord& one) {
      return one.tail == 0 && one.cache.place.offset == offset;
    });
  }

  const std::vector<std::string>& paths_;
  const SourceTexts& texts_;
  std::vector<FileRecords>& files_;
  std::multimap<std::string, std::size_t> makers_;
  std::set<std::pair<std::size_t, std::uint32_t>> taken_;
  std::size_t joined_ = 0;
};

}  // namespace

void find_imported_keys(const std::vector<std::string>& paths, const SourceTexts& texts,
                        std::vector<FileRecords>& files) {
  ImportedKeys(paths, texts, files).run();
}

}  // namespace opseal
