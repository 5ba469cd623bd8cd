#include "analyzers/sources/kernel_names.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include "analyzers/source/preprocessor.h"
#include "analyzers/source/source_tree.h"
#include "analyzers/sources/load_files.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

constexpr std::size_t most_names = 200'000;
constexpr std::size_t most_entries = 100'000;
constexpr std::size_t fewest_letters = 3;
constexpr std::uintmax_t most_bytes = 8 << 20;
// Steps of the comparisons of one name with all kernels, and of all names.
constexpr std::uint64_t most_steps = 4'000'000;
constexpr std::uint64_t most_steps_of_all = 100'000'000;

constexpr VocabularyWord words[] = {
    {"host_name", false, WordUse::seed},
    {"__global__", false, WordUse::seed},
    {"__kernel", false, WordUse::seed},
    {"kernel", false, WordUse::seed},
};
constexpr std::string_view needles[] = {"host_name", "__global__", "__kernel", "kernel void",
                                        "[[kernel]]"};
constexpr Vocabulary kernels{words, {}, {}, needles, "", {}};

bool is_shader(std::string_view path) { return path.ends_with(".metal") || path.ends_with(".cl"); }

// A shader stands in the tree of sources under a name of C++.
constexpr std::string_view shader_suffix = ".cu";

class KernelReader {
 public:
  KernelReader(const SourceFolder& folder, const std::vector<std::string>& paths,
               const SourceTexts& texts)
      : folder_(folder), paths_(paths), texts_(texts) {}

  KernelNames run() {
    std::vector<std::string> all;
    for (std::size_t at = 0; at < paths_.size(); ++at) {
      if (!is_source_path(paths_[at])) continue;
      all.push_back(paths_[at]);
      numbers_.emplace(paths_[at], at);
    }
    find_shaders();
    for (const auto& [path, open_path] : shaders_) all.push_back(path);
    SourceTree tree(std::move(all), kernels, [this](const std::string& path, std::string& bytes) {
      return read(path, bytes);
    });
    tree.discover();
    Preprocessor preprocessor(tree);
    SourceUnit unit;
    std::string bytes;
    for (FileId file = 0; file < tree.size(); ++file) {
      const bool shader = shaders_.contains(tree.path(file));
      if (!tree.read(file, bytes)) {
        found_.open = true;
        continue;
      }
      if (!shader && !tree.has_needle(bytes)) continue;
      preprocessor.run(file, bytes, unit);
      found_.open = found_.open || unit.truncated || found_.names.size() > most_names;
      read_unit(unit, shader);
    }
    return std::move(found_);
  }

 private:
  bool read(const std::string& path, std::string& bytes) const {
    const auto shader = shaders_.find(path);
    if (shader != shaders_.end()) {
      InputFile file;
      file.open_path = shader->second;
      std::error_code error;
      file.size = std::filesystem::file_size(file.open_path, error);
      return !error && file.size <= most_bytes && read_source_bytes(file, bytes);
    }
    const auto number = numbers_.find(path);
    return number != numbers_.end() && texts_.read(number->second, bytes);
  }

  // They are of no kind that a tree of sources has.
  void find_shaders() {
    const auto source =
        std::find_if(folder_.files.begin(), folder_.files.end(), [](const InputFile& file) {
          return !file.open_path.empty() && file.open_path.ends_with(file.path);
        });
    if (source == folder_.files.end()) return;
    const std::string base =
        source->open_path.substr(0, source->open_path.size() - source->path.size());
    const std::string top = base + folder_.place.path;
    std::error_code error;
    std::filesystem::recursive_directory_iterator it(
        top, std::filesystem::directory_options::skip_permission_denied, error);
    std::size_t entries = 0;
    for (const std::filesystem::recursive_directory_iterator end; !error && it != end;
         it.increment(error)) {
      if (++entries > most_entries) found_.open = true;
      if (found_.open) return;
      const std::string path = it->path().string();
      if (it->path().filename() == ".git") it.disable_recursion_pending();
      if (is_shader(path)) shaders_.emplace(path + std::string(shader_suffix), path);
    }
    found_.open = found_.open || error;
  }

  void read_unit(const SourceUnit& unit, bool shader) {
    const Tokens tokens = unit.tokens;
    for (std::size_t at = 0; at + 1 < tokens.size(); ++at) {
      const Token& token = tokens[at];
      if (token.is_string()) {
        read_embedded(token.text);
      } else if (token.is("host_name") && tokens[at + 1].is('(')) {
        const std::size_t close = closing_bracket(tokens, at + 1);
        bool only_strings = false;
        std::string name = close < tokens.size()
                               ? string_value(tokens.subspan(at + 2, close - at - 2), &only_strings)
                               : std::string();
        if (only_strings) {
          found_.names.insert(std::move(name));
        } else {
          found_.open = true;
        }
      } else if (token.is("__global__") || token.is("__kernel") || (shader && token.is("kernel"))) {
        read_definition(tokens, at + 1);
      }
    }
  }

  // `void name(…)`, with attributes before the name.
  void read_definition(Tokens tokens, std::size_t at) {
    constexpr std::size_t longest = 64;
    for (const std::size_t end = std::min(tokens.size(), at + longest); at < end; ++at) {
      if (tokens[at].is(';') || tokens[at].is('{') || tokens[at].is(')')) return;
      if (!tokens[at].is('(')) continue;
      const std::size_t close = closing_bracket(tokens, at);
      if (close >= tokens.size()) return;
      const Token& name = tokens[at - 1];
      const bool attribute = name.text.starts_with("__") || name.is("host_name") ||
                             name.is("max_total_threads_per_threadgroup");
      if (attribute) {
        at = close;
        continue;
      }
      if (!name.is_identifier()) return;
      // The name is what a macro makes that isn't known.
      if (close + 1 < tokens.size() && tokens[close + 1].is('(')) found_.open = true;
      found_.names.emplace(name.text);
      return;
    }
  }

  // A source within a text: any of its words may be the name of a kernel.
  void read_embedded(std::string_view text) {
    constexpr std::size_t shortest = 100;
    if (text.size() < shortest || !has_any(text, {"kernel", "__global__"})) return;
    if (text.find("##") != text.npos) found_.open = true;
    std::size_t begin = 0;
    for (std::size_t at = 0; at <= text.size(); ++at) {
      if (at < text.size() && is_word_byte(text[at])) continue;
      if (at > begin + 2) found_.names.emplace(text.substr(begin, at - begin));
      begin = at + 1;
    }
  }

  const SourceFolder& folder_;
  const std::vector<std::string>& paths_;
  const SourceTexts& texts_;
  std::map<std::string, std::size_t> numbers_;
  // By the path in the tree of sources: the file.
  std::map<std::string, std::string> shaders_;
  KernelNames found_;
};

// Whether a name is what the parts make, one of which has one text alone.
class Match {
 public:
  Match(const BuiltName& built, std::size_t fixed, std::string_view value)
      : built_(built), fixed_(fixed), value_(value) {}

  bool fits(std::string_view name, std::uint64_t& steps) const { return from(0, name, steps); }

 private:
  bool from(std::size_t part, std::string_view rest, std::uint64_t& steps) const {
    if (++steps > most_steps) return true;
    if (part == built_.parts.size()) return rest.empty();
    if (part == fixed_) {
      return rest.starts_with(value_) && from(part + 1, rest.substr(value_.size()), steps);
    }
    if (built_.parts[part].open) {
      for (std::size_t at = 0; at <= rest.size(); ++at) {
        if (from(part + 1, rest.substr(at), steps)) return true;
      }
      return false;
    }
    for (const PlacedName& one : built_.parts[part].values) {
      if (rest.starts_with(one.text) && from(part + 1, rest.substr(one.text.size()), steps)) {
        return true;
      }
    }
    return false;
  }

  const BuiltName& built_;
  std::size_t fixed_;
  std::string_view value_;
};

struct Uses {
  std::size_t names = 0;
  std::size_t calls = 0;
  bool has_kernel = false;
};

// Letters that a name has for sure beside one of its parts.
std::size_t letters_beside(const BuiltName& built, std::size_t fixed) {
  std::size_t letters = 0;
  for (std::size_t at = 0; at < built.parts.size(); ++at) {
    const std::vector<PlacedName>& values = built.parts[at].values;
    if (at == fixed || values.empty()) continue;
    std::size_t shortest = values.front().text.size();
    for (const PlacedName& value : values) shortest = std::min(shortest, value.text.size());
    letters += shortest;
  }
  return letters;
}

std::string pattern(const BuiltName& built, std::size_t fixed, std::string_view value) {
  std::string text;
  for (std::size_t at = 0; at < built.parts.size(); ++at) {
    const NamePart& part = built.parts[at];
    if (at == fixed) {
      text += value;
    } else {
      text += part.values.size() == 1 ? part.values.front().text : "*";
    }
  }
  return text;
}

}  // namespace

KernelNames find_kernel_names(const SourceFolder& folder, const std::vector<std::string>& paths,
                              const SourceTexts& texts) {
  return KernelReader(folder, paths, texts).run();
}

std::vector<AgreeingTables> join_kernel_names(const std::vector<BuiltName>& built,
                                              const KernelNames& kernel_names) {
  std::vector<AgreeingTables> all;
  if (kernel_names.open) return all;
  // How many names a text goes into, and whether some kernel has one of them.
  std::map<std::pair<std::uint32_t, std::uint32_t>, Uses> uses;
  std::uint64_t all_steps = 0;
  for (const BuiltName& name : built) {
    for (std::size_t part = 0; part < name.parts.size(); ++part) {
      if (name.parts[part].values.size() < 2 || letters_beside(name, part) < fewest_letters)
        continue;
      KindTable made;
      made.name = {name.written, name.place};
      made.joined = true;
      KindTable defined;
      defined.name = {"kernels", name.place};
      defined.defined = true;
      std::uint64_t steps = 0;
      for (const PlacedName& value : name.parts[part].values) {
        Uses& use = uses[{value.place.file, value.place.offset}];
        ++use.names;
        use.calls = name.parts[part].calls;
        made.entries.push_back({{value.text, value.place}, pattern(name, part, value.text)});
        const Match match(name, part, value.text);
        const auto kernel =
            std::find_if(kernel_names.names.begin(), kernel_names.names.end(),
                         [&](const std::string& one) { return match.fits(one, steps); });
        if (kernel == kernel_names.names.end()) continue;
        use.has_kernel = true;
        defined.entries.push_back({{value.text, value.place}, *kernel});
      }
      all_steps += steps;
      if (all_steps > most_steps_of_all) return {};
      if (defined.entries.empty() || steps > most_steps) continue;
      AgreeingTables tables;
      tables.enumeration = name.function;
      tables.tables.push_back(std::move(made));
      tables.tables.push_back(std::move(defined));
      all.push_back(std::move(tables));
    }
  }
  // A text that is there for another kernel, or for something else, isn't said to go into this one.
  for (AgreeingTables& tables : all) {
    const std::vector<NamedKind>& there = tables.tables[1].entries;
    std::erase_if(tables.tables[0].entries, [&](const NamedKind& entry) {
      const Uses& use = uses[{entry.kind.place.file, entry.kind.place.offset}];
      const bool is_there = std::any_of(there.begin(), there.end(), [&](const NamedKind& one) {
        return one.kind.name == entry.kind.name;
      });
      return !is_there && (use.has_kernel || use.calls > use.names);
    });
  }
  return all;
}

}  // namespace opseal
