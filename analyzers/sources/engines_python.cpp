#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "analyzers/input_error.h"
#include "analyzers/python/import_lines.h"
#include "analyzers/python/tables.h"
#include "analyzers/source/word_set.h"
#include "analyzers/sources/engines.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

constexpr std::size_t most_tables = 16384;

// `a.b` of `a/b.py`.
std::string module_of(std::string_view path) {
  std::string module(path.substr(0, path.size() - std::string_view(".py").size()));
  std::replace(module.begin(), module.end(), '/', '.');
  return module;
}

std::string on_duplicate_of(PythonSecond second) {
  switch (second) {
    case PythonSecond::replaces:
      return "replace";
    case PythonSecond::ignored:
      return "ignore";
    case PythonSecond::raises:
      return "error";
    case PythonSecond::unknown:
      return {};
  }
  return {};
}

BuildCondition condition_of(const PythonTableEntry& entry) {
  BuildCondition when;
  for (const std::string& condition : entry.conditions) {
    const bool negated = condition.starts_with("not ");
    const BuildCondition one = BuildCondition::of(negated ? condition.substr(4) : condition);
    when = when && (negated ? !one : one);
  }
  // What a function registers happens when that is called.
  if (!entry.within.empty()) when = when && BuildCondition::of(entry.within + "()");
  return when;
}

EngineEntry entry_of(const PythonTableEntry& from, std::uint32_t file) {
  EngineEntry entry;
  entry.key = python_key_text(from.key);
  for (const PythonKeyValue& part : from.key) {
    entry.parts.push_back(part.text);
    entry.sort += part.kind + " ";
    if (!entry.exact.empty()) entry.exact += ", ";
    entry.exact += part.full.empty() ? part.text : part.full;
  }
  entry.function = from.value;
  entry.place = {file, from.place.offset, from.place.length};
  entry.when = condition_of(from);
  return entry;
}

class Finder {
 public:
  Finder(const std::vector<std::string>& paths, const SourceTexts& texts)
      : paths_(paths), texts_(texts) {}

  std::vector<Engine> run(std::vector<std::vector<PythonTable>> tables) {
    take_tables(std::move(tables));
    if (tables_.empty()) return {};
    name_tables();
    find_objects();
    find_uses();
    return std::move(engines_);
  }

 private:
  // Calls `visit(file, text)` for each Python file with one of the words; what can't be parsed is
  // told by other readers.
  template <typename Visit>
  void for_each_file(const std::vector<std::string>& words, const Visit& visit) {
    const WordQuery any_word(words);
    std::string bytes;
    for (std::size_t at = 0; at < paths_.size(); ++at) {
      if (!paths_[at].ends_with(".py") || !texts_.read_holding(any_word, at, bytes)) continue;
      try {
        visit(static_cast<std::uint32_t>(at), bytes);
      } catch (const InputError&) {
        continue;
      }
    }
  }

  void take_tables(std::vector<std::vector<PythonTable>> of_files) {
    for (std::size_t file = 0; file < of_files.size() && tables_.size() <= most_tables; ++file) {
      for (PythonTable& table : of_files[file]) {
        const bool filled = std::any_of(table.accessors.begin(), table.accessors.end(),
                                        [](const PythonAccessor& one) { return one.stores; });
        if (!filled && !table.of_functions) continue;
        tables_.push_back(std::move(table));
        files_.push_back(static_cast<std::uint32_t>(file));
      }
    }
  }

  std::size_t add_engine(std::size_t table, const std::string& name) {
    Engine engine;
    engine.name = name;
    const PythonTable& from = tables_[table];
    engine.place = {files_[table], from.place.offset, from.place.length};
    engine.on_duplicate = on_duplicate_of(from.second);
    engine.known = !from.open;
    // Each object has what its class writes out: many of many are no registries of a person.
    copied_ += from.entries.size();
    if (copied_ > most_copied) engine.known = false;
    std::map<std::string, std::size_t> times;
    for (const PythonTableEntry& one : from.entries) {
      if (copied_ > most_copied) break;
      engine.entries.push_back(entry_of(one, files_[table]));
      ++times[engine.entries.back().exact];
    }
    for (EngineEntry& entry : engine.entries) {
      // Only a literal that has a key twice loses one of them without a word.
      entry.logged = times[entry.exact] > 1;
      if (entry.logged) engine.on_duplicate = "replace";
    }
    engines_.push_back(std::move(engine));
    return engines_.size() - 1;
  }

  void add_name(const std::string& name, std::uint32_t file, std::size_t table, std::size_t engine,
                PythonTableName::Kind kind) {
    names_.push_back(
        {{name, module_of(paths_[file]), file, static_cast<std::uint32_t>(table), kind}, engine});
  }

  void name_tables() {
    std::map<std::string, std::set<std::uint32_t>> class_files;
    for (std::size_t at = 0; at < tables_.size(); ++at) {
      if (!tables_[at].owner.empty()) class_files[tables_[at].owner].insert(files_[at]);
    }
    for (std::size_t at = 0; at < tables_.size(); ++at) {
      const PythonTable& table = tables_[at];
      if (table.owner.empty()) {
        const std::size_t engine = add_engine(at, table.name);
        add_name(table.name, files_[at], at, engine, PythonTableName::Kind::table);
        std::set<std::string> functions;
        for (const PythonAccessor& accessor : table.accessors) {
          // `__init__` of a class is called by the name of that.
          if (!accessor.name.starts_with("__")) functions.insert(accessor.name);
        }
        for (const std::string& function : functions) {
          add_name(function, files_[at], at, engine, PythonTableName::Kind::function);
        }
        continue;
      }
      // Two classes of one name can't be told apart by the name that makes an object.
      if (class_files[table.owner].size() > 1) continue;
      class_tables_[table.owner].push_back(at);
      if (table.of_object) continue;
      const std::size_t engine = add_engine(at, table.owner);
      class_engines_[at] = engine;
      add_name(table.owner, files_[at], at, engine, PythonTableName::Kind::object);
    }
  }

  void find_objects() {
    if (class_tables_.empty()) return;
    std::vector<std::string> words;
    for (const auto& [name, tables] : class_tables_) words.push_back(name);
    const WordSet names(words);
    std::vector<std::pair<std::uint32_t, PythonTableObject>> aliases;
    for_each_file(words, [&](std::uint32_t file, const std::string& text) {
      if (!may_make_object(file, text, names)) return;
      for (PythonTableObject& object : find_python_objects(text)) {
        if (!object.member.empty()) {
          if (aliases.size() < most_tables) aliases.emplace_back(file, std::move(object));
          continue;
        }
        const auto found = class_tables_.find(object.made_by);
        if (found == class_tables_.end() || names_.size() > most_tables) continue;
        for (const std::size_t table : found->second) {
          const auto shared = class_engines_.find(table);
          const std::size_t engine =
              shared != class_engines_.end() ? shared->second : add_engine(table, object.name);
          add_name(object.name, file, table, engine, PythonTableName::Kind::object);
        }
      }
    });
    add_aliases(aliases);
  }

  // `register = REG.register` beside the object or the class.
  void add_aliases(const std::vector<std::pair<std::uint32_t, PythonTableObject>>& aliases) {
    std::multimap<std::pair<std::uint32_t, std::string>, std::size_t> objects;
    for (std::size_t at = 0; at < names_.size(); ++at) {
      if (names_[at].name.kind != PythonTableName::Kind::object) continue;
      objects.emplace(std::pair(names_[at].name.file, names_[at].name.name), at);
    }
    for (const auto& [file, alias] : aliases) {
      const auto [first, last] = objects.equal_range(std::pair(file, alias.made_by));
      for (auto one = first; one != last && names_.size() <= 2 * most_tables; ++one) {
        const PythonTableName& object = names_[one->second].name;
        const PythonTable& table = tables_[object.table];
        const bool has = std::any_of(table.accessors.begin(), table.accessors.end(),
                                     [&member = alias.member](const PythonAccessor& accessor) {
                                       return accessor.name == member;
                                     });
        if (!has) continue;
        const std::size_t engine = names_[one->second].engine;
        add_name(alias.name, file, object.table, engine, PythonTableName::Kind::function);
        names_.back().name.member = alias.member;
      }
    }
  }

  void find_uses() {
    if (names_.empty()) return;
    std::stable_sort(names_.begin(), names_.end(),
                     [](const Named& a, const Named& b) { return a.name.name < b.name.name; });
    std::vector<PythonTableName> names;
    std::vector<std::string> words;
    for (const Named& one : names_) {
      names.push_back(one.name);
      if (words.empty() || words.back() != one.name.name) words.push_back(one.name.name);
    }
    const WordSet any_name(words);
    for_each_file(words, [&](std::uint32_t file, const std::string& text) {
      if (!may_use(file, text, any_name)) return;
      const std::string module = module_of(paths_[file]);
      for (const PythonTableUse& use : find_python_table_uses(text, file, module, names, tables_)) {
        add_use(use, file);
      }
    });
  }

  // Whether `NAME = Class(…)` may stand in a text, or `NAME = OBJECT.member` beside the class.
  bool may_make_object(std::uint32_t file, std::string_view text, const WordSet& classes) const {
    bool may = false;
    classes.for_each(text, [&](std::size_t begin, std::size_t end, std::string_view name) {
      if (may) return;
      for (const std::size_t table : class_tables_.find(std::string(name))->second) {
        may = may || files_[table] == file;
      }
      may = may || is_assigned_call(text, begin, end) || is_renamed(text, end);
    });
    return may;
  }

  // `= a.b.Class(`
  static bool is_assigned_call(std::string_view text, std::size_t begin, std::size_t end) {
    const auto is_blank = [](char byte) {
      return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r' || byte == '\\';
    };
    while (end < text.size() && is_blank(text[end])) ++end;
    if (end == text.size() || text[end] != '(') return false;
    while (begin > 0 && (is_word_byte(text[begin - 1]) || text[begin - 1] == '.')) --begin;
    while (begin > 0 && (is_blank(text[begin - 1]) || text[begin - 1] == '(')) --begin;
    return begin > 0 && text[begin - 1] == '=';
  }

  // `import Class as Other`
  static bool is_renamed(std::string_view text, std::size_t end) {
    const std::string_view rest = trimmed(text.substr(end, 16));
    return rest.starts_with("as ");
  }

  // Whether a name in a text may be one that another file defines, or the file defines it itself.
  bool may_use(std::uint32_t file, std::string_view text, const WordSet& any_name) const {
    std::optional<PythonImportLines> imports;
    bool may = false;
    any_name.for_each(text, [&](std::size_t begin, std::size_t, std::string_view name) {
      if (may) return;
      if (!imports) imports.emplace(text);
      auto one = std::lower_bound(
          names_.begin(), names_.end(), name,
          [](const Named& named, std::string_view other) { return named.name.name < other; });
      for (; one != names_.end() && one->name.name == name && !may; ++one) {
        // The module itself, or a package above it that hands on.
        may = one->name.file == file || imports->has_star() ||
              imports->may_mean(begin, [&module = one->name.module](std::string_view part) {
                return has_part(module, part);
              });
      }
    });
    return may;
  }

  // `b` of `a.b.c`
  static bool has_part(std::string_view module, std::string_view part) {
    for (std::size_t at = 0; at <= module.size();) {
      const std::size_t end = std::min(module.find('.', at), module.size());
      if (module.substr(at, end - at) == part) return true;
      at = end + 1;
    }
    return false;
  }

  void add_use(const PythonTableUse& use, std::uint32_t file) {
    Engine& engine = engines_[names_[use.name].engine];
    EngineEntry entry = entry_of(use.entry, file);
    switch (use.kind) {
      case PythonTableUse::Kind::store:
        // What a function sets, again and again, is state; what an import sets is a registration.
        entry.logged = names_[use.name].name.kind != PythonTableName::Kind::table &&
                       use.entry.within.empty() && !use.entry.value.empty();
        engine.entries.push_back(std::move(entry));
        return;
      case PythonTableUse::Kind::lookup:
        engine.lookups.push_back({entry.key, entry.sort, entry.place});
        return;
      case PythonTableUse::Kind::unknown:
        engine.known = false;
        return;
    }
  }

  struct Named {
    PythonTableName name;
    std::size_t engine = 0;
  };

  const std::vector<std::string>& paths_;
  const SourceTexts& texts_;
  std::vector<PythonTable> tables_;
  // By number of the table.
  std::vector<std::uint32_t> files_;
  std::map<std::string, std::vector<std::size_t>> class_tables_;
  std::map<std::size_t, std::size_t> class_engines_;
  std::vector<Named> names_;
  std::vector<Engine> engines_;
  static constexpr std::size_t most_copied = 200'000;
  std::size_t copied_ = 0;
};

}  // namespace

std::vector<Engine> find_python_engines(const std::vector<std::string>& paths,
                                        std::vector<std::vector<PythonTable>> tables,
                                        const SourceTexts& texts) {
  return Finder(paths, texts).run(std::move(tables));
}

}  // namespace opseal
