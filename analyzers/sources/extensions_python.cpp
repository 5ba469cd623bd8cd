// Which of the names that Python imports are modules of C++, and what is asked of them. A name is
// followed through imports, through the files of the tree that hand a module on (`from ._backend
// import _C`), and through `load(name="…")`.

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "analyzers/python/import_lines.h"
#include "analyzers/source/word_set.h"
#include "analyzers/sources/extension_modules.h"
#include "analyzers/sources/extension_paths.h"
#include "analyzers/sources/extension_uses.h"
#include "analyzers/sources/extensions.h"
#include "analyzers/words.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Files of Python that are parsed for one tree, and their bytes.
constexpr std::size_t most_files = 4000;
constexpr std::size_t most_bytes = std::size_t{128} << 20;
// Files that hand a module on to others that hand it on.
constexpr int most_rounds = 3;
constexpr std::size_t most_uses = 200000;
// Names of one module that are compared with the functions that nobody asks for.
constexpr std::size_t most_misspelt = 1000;

using Words = std::set<std::string, std::less<>>;

class UseFinder {
 public:
  UseFinder(const std::vector<ExtensionBlock>& blocks, const std::set<std::string>& others,
            const std::vector<std::string>& paths, bool partial, const SourceTexts& texts)
      : others_(others),
        paths_(paths),
        partial_(partial),
        texts_(texts),
        files_(paths, texts),
        modules_(blocks, paths) {}

  ExtensionTree run() {
    if (partial_) return finish();
    for (std::uint32_t file = 0; file < paths_.size(); ++file) {
      if (paths_[file].ends_with(".py")) python_.push_back(file);
    }
    if (modules_.wants_declarations()) find_declarations();
    Words words = modules_.last_names();
    Words known;
    for (int round = 0; round < most_rounds && !words.empty(); ++round) {
      const std::vector<std::uint32_t> fresh = files_with(words);
      known.insert(words.begin(), words.end());
      Words aliases;
      for (const std::uint32_t file : fresh) {
        asking_.push_back(file);
        ExtensionPaths names(files_, modules_);
        for (const std::string& alias : names.handed_on(file)) {
          if (known.count(alias) == 0) aliases.insert(alias);
        }
      }
      words = std::move(aliases);
    }
    std::sort(asking_.begin(), asking_.end());
    for (const std::uint32_t file : asking_) {
      const PythonFile* parsed = files_.parsed(file);
      if (parsed == nullptr) continue;
      ExtensionPaths names(files_, modules_);
      read_extension_uses(*parsed, file, names, modules_, most_uses, uses_);
    }
    return finish();
  }

 private:
  void find_declarations() {
    std::string bytes;
    for (const std::uint32_t file : python_) {
      if (!texts_.read(file, bytes)) continue;
      if (bytes.find("Extension(") == bytes.npos && bytes.find("cpp_extension") == bytes.npos) {
        continue;
      }
      if (const PythonFile* parsed = files_.parsed(file)) modules_.add_declarations(*parsed, file);
    }
  }

  // Whether a text imports something of such a name, or says one as a text: comments do neither.
  static bool may_ask(std::string_view bytes, const WordSet& names) {
    const PythonImportLines imports(bytes);
    bool may = false;
    names.for_each(bytes, [&](std::size_t begin, std::size_t end, std::string_view name) {
      const auto is_quote = [&](std::size_t at) {
        return at < bytes.size() && (bytes[at] == '"' || bytes[at] == '\'');
      };
      may = may || imports.has_star() || imports.has(name) || is_quote(begin - 1) || is_quote(end);
    });
    return may;
  }

  // Of those that were not taken yet.
  std::vector<std::uint32_t> files_with(const Words& words) {
    std::vector<std::uint32_t> found;
    const std::vector<std::string> list(words.begin(), words.end());
    const WordQuery any_word(list);
    const WordSet names(list);
    std::string bytes;
    for (const std::uint32_t file : python_) {
      if (taken_.count(file) > 0 || taken_.size() >= most_files || bytes_ > most_bytes) continue;
      if (!texts_.read_holding(any_word, file, bytes) || !may_ask(bytes, names)) continue;
      taken_.insert(file);
      files_.take(file);
      bytes_ += bytes.size();
      if (files_.parsed(file) != nullptr) found.push_back(file);
    }
    return found;
  }

  ExtensionTree finish() {
    ExtensionTree tree;
    leave_one_meaning();
    std::map<std::string, std::vector<ExtensionUse>> by_module;
    for (ExtensionUse& use : uses_) by_module[use.module].push_back(std::move(use));
    for (auto& [name, uses] : by_module) {
      const ExtensionModule& module = modules_.module(name);
      if (keep_known(module, uses)) tree.modules.push_back(module);
      for (ExtensionUse& use : uses) tree.uses.push_back(std::move(use));
    }
    for (ExtensionModule& module : modules_.others_than(tree.modules)) {
      if (!module.functions.empty()) tree.modules.push_back(std::move(module));
    }
    return tree;
  }

  // A name that may be one of several modules (built beforehand, or when it is imported) asks for
  // what any of them has; where they differ, nothing is told of the call.
  void leave_one_meaning() {
    const auto key = [](const ExtensionUse& use) {
      return std::tuple(use.place.file, use.name.place.offset, std::string_view(use.name.text));
    };
    std::stable_sort(uses_.begin(), uses_.end(),
                     [&](const ExtensionUse& a, const ExtensionUse& b) { return key(a) < key(b); });
    std::vector<ExtensionUse> kept;
    for (std::size_t at = 0; at < uses_.size();) {
      std::size_t end = at;
      std::vector<const BoundFunction*> first;
      std::size_t chosen = at;
      bool differ = false;
      bool open = false;
      for (; end < uses_.size() && key(uses_[end]) == key(uses_[at]); ++end) {
        const ExtensionModule& module = modules_.module(uses_[end].module);
        const std::vector<const BoundFunction*>& bound = bound_as(module, uses_[end].name.text);
        open = open || module.open || module.texts.count(uses_[end].name.text) > 0;
        if (end == at) {
          first = bound;
        } else if (bound != first) {
          differ = true;
          if (first.empty()) chosen = end;
          if (first.empty()) first = bound;
        }
      }
      const bool several = end > at + 1;
      if (!(several && first.empty() && open)) {
        kept.push_back(std::move(uses_[chosen]));
        if (differ) kept.back().called = false;
      }
      at = end;
    }
    uses_ = std::move(kept);
  }

  const std::vector<const BoundFunction*>& bound_as(const ExtensionModule& module,
                                                    const std::string& name) {
    const auto [known, is_new] = bound_.try_emplace(module.name);
    if (is_new) {
      for (const ExtensionFunction& function : module.functions) {
        known->second[function.name].push_back(function.bound);
      }
    }
    return known->second[name];
  }

  // Leaves what can be told from what is there: a name that is missing counts only where the module
  // is whole and surely the one that is meant.
  bool keep_known(const ExtensionModule& module, std::vector<ExtensionUse>& uses) const {
    std::set<std::string_view> names;
    for (const ExtensionFunction& function : module.functions) names.insert(function.name);
    // Copies, since the uses move.
    std::set<std::string, std::less<>> found;
    std::set<std::string, std::less<>> missing;
    for (const ExtensionUse& use : uses) {
      (is_known(module, names, use) ? found : missing).insert(use.name.text);
    }
    // Functions that nobody asks for.
    std::vector<std::string_view> left;
    for (const std::string_view name : names) {
      if (found.count(name) == 0) left.push_back(name);
    }
    // Where most of what is asked for isn't there, another module is meant.
    const bool most = module.guessed ? found.size() > 2 && missing.size() * 4 <= found.size()
                                     : missing.size() * 2 <= found.size() + 1;
    const bool sure = !module.open && others_.empty() && most;
    std::unordered_map<std::string, bool> misspelt;
    std::erase_if(uses, [&](const ExtensionUse& use) {
      if (names.count(use.name.text) > 0) return false;
      if (missing.count(use.name.text) == 0 || use.asks_whether) return true;
      if (sure) return false;
      if (misspelt.size() >= most_misspelt) return true;
      const auto [known, is_new] = misspelt.try_emplace(use.name.text, false);
      if (is_new) known->second = is_misspelt(use.name.text, left);
      return !known->second;
    });
    return !uses.empty();
  }

  bool is_known(const ExtensionModule& module, const std::set<std::string_view>& names,
                const ExtensionUse& use) const {
    return names.count(use.name.text) > 0 || module.texts.count(use.name.text) > 0 ||
           others_.count(use.name.text) > 0;
  }

  // A function that nobody asks for is nearly of that name.
  static bool is_misspelt(std::string_view name, const std::vector<std::string_view>& left) {
    constexpr std::size_t shortest = 6;
    constexpr std::size_t most_compared = 2000;
    if (name.size() < shortest || left.size() > most_compared) return false;
    return std::any_of(left.begin(), left.end(), [name](std::string_view other) {
      return other.size() + 2 >= name.size() && name.size() + 2 >= other.size() &&
             edit_distance(name, other) <= (name.size() < 12 ? 1 : 2);
    });
  }

  const std::set<std::string>& others_;
  const std::vector<std::string>& paths_;
  bool partial_;
  const SourceTexts& texts_;
  PythonFiles files_;
  ExtensionModules modules_;
  std::vector<std::uint32_t> python_;
  std::unordered_set<std::uint32_t> taken_;
  std::size_t bytes_ = 0;
  std::vector<std::uint32_t> asking_;
  std::vector<ExtensionUse> uses_;
  // The functions of each module by their names.
  std::unordered_map<std::string,
                     std::unordered_map<std::string, std::vector<const BoundFunction*>>>
      bound_;
};

}  // namespace

ExtensionTree find_extension_uses(const std::vector<ExtensionBlock>& blocks,
                                  const std::set<std::string>& others,
                                  const std::vector<std::string>& paths, bool partial,
                                  const SourceTexts& texts) {
  const bool any = std::any_of(blocks.begin(), blocks.end(),
                               [](const ExtensionBlock& block) { return block.module; });
  if (!any) return {};
  return UseFinder(blocks, others, paths, partial, texts).run();
}

}  // namespace opseal
