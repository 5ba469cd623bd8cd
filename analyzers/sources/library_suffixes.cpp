// The suffix of libraries that a project builds: a function or name gives that of the system, and
// some place asks for `.so`.

#include "analyzers/sources/library_suffixes.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "analyzers/input_error.h"
#include "analyzers/python/library_suffixes.h"
#include "analyzers/sources/placed_writer.h"

namespace opseal {
namespace {

// Folders whose names are not the project's own.
constexpr std::size_t most_files = 256;

std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? std::string_view() : path.substr(0, slash);
}

// `cache` of `pkg/cache/store.py`, `store` of `store.py`.
std::string name_of(std::string_view path) {
  std::string_view folder = folder_of(path);
  if (!folder.empty()) return std::string(folder.substr(folder.rfind('/') + 1));
  return std::string(path.substr(0, path.rfind('.')));
}

class SuffixFinder {
 public:
  SuffixFinder(const std::vector<std::string>& paths, const SourceTexts& texts)
      : paths_(paths), texts_(texts) {}

  std::vector<SuffixRecord> run() {
    find_choosers();
    if (names_.empty() || names_.size() > most_files) return {};
    read_uses();
    for (const auto& [file, uses] : files_) look_at(file, uses);
    for (const auto& [file, uses] : files_) add_plain(file, uses);
    return std::move(found_);
  }

 private:
  template <typename Visit>
  void for_each_file(const WordQuery& words, const Visit& visit) {
    std::string bytes;
    for (std::size_t at = 0; at < paths_.size(); ++at) {
      if (!paths_[at].ends_with(".py") || !texts_.read_holding(words, at, bytes)) continue;
      try {
        visit(at, bytes);
      } catch (const InputError&) {
        // Others tell of it.
        continue;
      }
    }
  }

  void find_choosers() {
    const WordQuery other(std::vector<std::string>{"dll", "dylib", "pyd"});
    const WordQuery shared(std::vector<std::string>{"so"});
    for_each_file(other, [&](std::size_t at, const std::string& bytes) {
      if (!texts_.may_hold(at, shared)) return;
      for (PythonSuffixChooser& one : find_suffix_choosers(ParsedPython(bytes))) {
        folders_.insert(folder_of(paths_[at]));
        homes_[one.name].insert(at);
        names_.insert(std::move(one.name));
      }
    });
  }

  // Files that name a chooser, and those beside one that spell a suffix.
  void read_uses() {
    std::vector<std::string> words(names_.begin(), names_.end());
    const WordQuery named(words);
    words.assign({"so"});
    const WordQuery shared(words);
    words.insert(words.end(), names_.begin(), names_.end());
    for_each_file(WordQuery(words), [&](std::size_t at, const std::string& bytes) {
      const bool names = texts_.may_hold(at, named);
      if (!names && !(texts_.may_hold(at, shared) && folders_.contains(folder_of(paths_[at])))) {
        return;
      }
      if (files_.size() == most_files) return;
      // Cheaper than parsing a file that says neither.
      if (bytes.find(".so") == bytes.npos &&
          std::none_of(names_.begin(), names_.end(),
                       [&](const std::string& name) { return bytes.find(name) != bytes.npos; })) {
        return;
      }
      files_.emplace(at, find_library_suffixes(ParsedPython(bytes), names_));
    });
  }

  // A name that this file gives a meaning, or that another one may have had from it.
  bool may_mean(std::size_t file, const std::string& name) const {
    const std::set<std::size_t>& homes = homes_.at(name);
    // `ext` of two files may be two things.
    if (homes.contains(file)) return true;
    return homes.size() == 1;
  }

  const PythonSuffixUse* chosen_in(std::size_t file) const {
    const auto uses = files_.find(file);
    if (uses == files_.end()) return nullptr;
    for (const PythonSuffixUse& use : uses->second.uses) {
      if (!use.chooser.empty() && may_mean(file, use.chooser)) return &use;
    }
    return nullptr;
  }

  // Libraries that are called `.so` everywhere are not those of the chooser. Left out are the
  // suffixes that a chooser is made of, and a library that is named by a chooser too.
  static bool spells_names(const PythonLibrarySuffixes& uses) {
    std::set<std::string_view> stems;
    for (const PythonSuffixUse& use : uses.uses) {
      if (!use.chooser.empty()) stems.insert(use.stem);
    }
    return std::any_of(uses.uses.begin(), uses.uses.end(), [&](const PythonSuffixUse& use) {
      if (!use.chooser.empty() || use.picks) return false;
      return use.stem.empty() ? !use.asks : !stems.contains(use.stem);
    });
  }

  void look_at(std::size_t file, const PythonLibrarySuffixes& uses) {
    look_at_names(file, uses);
    const bool any = std::any_of(uses.uses.begin(), uses.uses.end(),
                                 [](const PythonSuffixUse& use) { return use.picks && !use.asks; });
    if (!any || spells_names(uses)) return;
    std::size_t home = file;
    const PythonSuffixUse* chosen = chosen_in(file);
    if (chosen == nullptr) {
      // What the whole file is for may be one system.
      if (uses.asks) return;
      for (const auto& [other, others] : files_) {
        if (folder_of(paths_[other]) != folder_of(paths_[file])) continue;
        const PythonSuffixUse* one = chosen_in(other);
        if (one == nullptr) continue;
        if (spells_names(others)) return;
        if (chosen == nullptr) home = other;
        if (chosen == nullptr) chosen = one;
      }
    }
    if (chosen == nullptr) return;
    SuffixRecord record = record_of(home, *chosen);
    for (const PythonSuffixUse& use : uses.uses) {
      if (use.picks && !use.asks) add(file, use, record);
    }
    found_.push_back(std::move(record));
  }

  // One library of the file by both: `name + LIB_EXT` and `name + ".so"`.
  void look_at_names(std::size_t file, const PythonLibrarySuffixes& uses) {
    std::map<std::string_view, const PythonSuffixUse*> by_chooser;
    std::set<std::uint32_t> choosing;
    for (const PythonSuffixUse& use : uses.uses) {
      if (use.chooser.empty() || !may_mean(file, use.chooser)) continue;
      choosing.insert(use.around.offset);
      if (!use.stem.empty()) by_chooser.emplace(use.stem, &use);
    }
    for (const PythonSuffixUse& use : uses.uses) {
      if (!use.chooser.empty() || use.picks || use.asks || use.stem.empty()) continue;
      const auto chosen = by_chooser.find(use.stem);
      // A function that has both may try one after the other.
      if (chosen == by_chooser.end() || choosing.contains(use.around.offset)) continue;
      SuffixRecord record = record_of(file, *chosen->second);
      add(file, use, record);
      found_.push_back(std::move(record));
    }
  }

  // Libraries that nobody asks for by one suffix.
  void add_plain(std::size_t file, const PythonLibrarySuffixes& uses) {
    const bool told = std::any_of(found_.begin(), found_.end(), [file](const SuffixRecord& one) {
      return one.chosen.file == file;
    });
    if (told) return;
    for (const PythonSuffixUse& use : uses.uses) {
      if (use.chooser.empty() || use.stem.empty() || !may_mean(file, use.chooser)) continue;
      found_.push_back(record_of(file, use));
      return;
    }
  }

  SuffixRecord record_of(std::size_t home, const PythonSuffixUse& chosen) const {
    SuffixRecord record;
    record.name = name_of(paths_[home]);
    record.chooser = chosen.chooser;
    record.chosen = {static_cast<std::uint32_t>(home), chosen.place.offset, chosen.place.length};
    return record;
  }

  static void add(std::size_t file, const PythonSuffixUse& use, SuffixRecord& record) {
    record.lookups.push_back(
        {".so", {static_cast<std::uint32_t>(file), use.place.offset, use.place.length}});
  }

  const std::vector<std::string>& paths_;
  const SourceTexts& texts_;
  std::set<std::string, std::less<>> names_;
  std::set<std::string_view> folders_;
  std::map<std::string, std::set<std::size_t>> homes_;
  std::map<std::size_t, PythonLibrarySuffixes> files_;
  std::vector<SuffixRecord> found_;
};

}  // namespace

std::vector<SuffixRecord> find_suffix_records(const std::vector<std::string>& paths,
                                              const SourceTexts& texts) {
  return SuffixFinder(paths, texts).run();
}

void write_suffixes(const std::vector<SuffixRecord>& records, PlacedWriter& writer) {
  for (const SuffixRecord& record : records) {
    const std::uint32_t item = writer.open(Key::none, NodeType::object, record.chosen);
    writer.text(Key::name, record.name, record.chosen);
    writer.text(Key::kind, "disk", record.chosen);
    writer.text(Key::suffix, "platform", record.chosen);
    const std::uint32_t list =
        writer.open(Key::names, NodeType::list,
                    record.lookups.empty() ? record.chosen : record.lookups.front().place);
    for (const SuffixRecord::Lookup& lookup : record.lookups) {
      writer.text(Key::none, lookup.written, lookup.place);
    }
    writer.close(list);
    writer.close(item);
  }
}

}  // namespace opseal
