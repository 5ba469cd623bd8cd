#include "analyzers/sources/engines_cpp.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "analyzers/source/invocations.h"
#include "analyzers/source/preprocessor.h"
#include "analyzers/source/source_tree.h"
#include "analyzers/source/word_set.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

// Larger ones are data.
constexpr std::size_t most_bytes = std::size_t{4} << 20;

// `f`, `&a::f`, `[](…) { … }`
bool is_function(Tokens argument) {
  if (argument.empty() || argument[0].is('[')) return !argument.empty();
  return std::all_of(argument.begin(), argument.end(), [](const Token& token) {
    return token.is_identifier() || token.is("::") || token.is('&');
  });
}

// `kAdd`, `ADD`, `1`
bool is_constant_word(std::string_view word) {
  return word.size() > 1 &&
         ((word[0] == 'k' && word[1] >= 'A' && word[1] <= 'Z') || is_upper(word));
}

// Whether what follows may be a call with a text, a number or an enumerator: `("add", f)`,
// `{Op::kAdd, f}`, `(#name, f)`.
bool may_give_constant(std::string_view bytes, std::size_t at) {
  constexpr std::size_t most_looked_at = 400;
  const std::string_view rest = bytes.substr(at, most_looked_at);
  for (std::size_t i = 0; i < rest.size() && rest[i] != ';'; ++i) {
    if (rest[i] == '"' || rest[i] == '#' || rest[i] == '\'') return true;
    if (!is_word_byte(rest[i])) continue;
    const std::size_t begin = i;
    while (i < rest.size() && is_word_byte(rest[i])) ++i;
    if (i == rest.size()) return true;
    const std::string_view word = rest.substr(begin, i - begin);
    const bool ends = std::string_view(",)}\r\n").find(rest[i]) != std::string_view::npos;
    const bool is_constant = (begin > 1 && rest[begin - 1] == ':') ||
                             (word[0] >= '0' && word[0] <= '9') || is_constant_word(word);
    if (ends && is_constant) return true;
    --i;
  }
  return false;
}

class CppFinder {
 public:
  CppFinder(const std::vector<std::string>& paths, const std::vector<std::size_t>& files,
            const SourceTexts& texts, CppMaps maps)
      : paths_(paths), files_(files), texts_(texts), literals_(std::move(maps.literals)) {
    shape_.tables = std::move(maps.tables);
  }

  std::vector<Engine> run() {
    find_shape();
    if (shape_.accessors.empty()) return std::move(literals_);
    for (std::size_t at = 0; at < shape_.tables.size(); ++at) {
      const CppTable& table = shape_.tables[at];
      Engine engine;
      engine.name = table.owner;
      engine.place = table.place;
      engine.known = !table.open;
      engine.on_duplicate = on_duplicate_of(at);
      engines_.push_back(std::move(engine));
    }
    find_uses();
    std::move(literals_.begin(), literals_.end(), std::back_inserter(engines_));
    return std::move(engines_);
  }

 private:
  template <typename Wanted, typename Visit>
  void for_each_source(const WordQuery& words, const Wanted& wanted, const Visit& visit) {
    std::string bytes;
    PlainSource source;
    for (const std::size_t at : files_) {
      if (!texts_.read_holding(words, at, bytes) || bytes.size() > most_bytes) continue;
      if (!wanted(bytes)) continue;
      read_plain(static_cast<FileId>(at), bytes, source);
      visit(static_cast<std::uint32_t>(at), source);
    }
  }

  void find_shape() {
    drop_doubtful();
    if (shape_.tables.empty()) return;
    std::vector<std::string> words;
    for (std::size_t at = 0; at < shape_.tables.size(); ++at) {
      words.push_back(shape_.tables[at].owner);
      owners_[shape_.tables[at].owner] = at;
    }
    for_each_source(
        WordQuery(words), [](std::string_view) { return true; },
        [this](std::uint32_t, const PlainSource& source) {
          find_cpp_accessors(source, false, shape_);
          find_givers(source);
        });
    drop_overloaded();
    if (shape_.accessors.empty()) return;
    const MayUse may_use(reaches());
    for_each_source(may_use.query(), may_use, [this](std::uint32_t, const PlainSource& source) {
      find_cpp_accessors(source, true, shape_);
    });
    drop_ambiguous();
    drop_unfilled();
  }

  // Of several methods of one name a call may mean one that does something else.
  void drop_overloaded() {
    std::map<std::string, std::size_t> read;
    const auto name_of = [this](const CppAccessor& accessor) {
      return shape_.tables[accessor.table].owner + "::" + accessor.name;
    };
    for (const CppAccessor& accessor : shape_.accessors) {
      if (accessor.is_member) ++read[name_of(accessor)];
    }
    drop_accessors([&](const CppAccessor& accessor) {
      if (!accessor.is_member) return false;
      const auto bodies = shape_.bodies.find(name_of(accessor));
      return bodies != shape_.bodies.end() && bodies->second > read[name_of(accessor)];
    });
  }

  // A registrar that hands on to one of several registries, nobody knows which.
  void drop_ambiguous() {
    std::map<std::string, std::set<std::size_t>> tables;
    for (const CppAccessor& accessor : shape_.accessors) {
      if (!accessor.is_member && accessor.stores) tables[accessor.name].insert(accessor.table);
    }
    drop_accessors([&](const CppAccessor& accessor) {
      return !accessor.is_member && accessor.stores && tables[accessor.name].size() > 1;
    });
  }

  // What else is in their tables isn't known then.
  template <typename Doubtful>
  void drop_accessors(const Doubtful& doubtful) {
    std::erase_if(shape_.accessors, [&](const CppAccessor& accessor) {
      const bool drops = doubtful(accessor);
      if (drops) shape_.tables[accessor.table].open = true;
      return drops;
    });
  }

  // What nobody registers through is no registry: a memory, a writer, a server.
  void drop_unfilled() {
    std::vector<std::string> names;
    for (const CppAccessor& accessor : shape_.accessors) {
      if (accessor.stores) names.push_back(accessor.name);
    }
    const WordSet stores(names);
    const WordQuery any_name(names);
    std::set<std::string, std::less<>> filling;
    std::string bytes;
    for (const std::size_t at : files_) {
      if (!texts_.read_holding(any_name, at, bytes) || bytes.size() > most_bytes) continue;
      stores.for_each(bytes, [&](std::size_t, std::size_t end, std::string_view name) {
        if (!filling.contains(name) && may_give_constant(bytes, end)) filling.emplace(name);
      });
    }
    std::set<std::size_t> filled;
    for (const CppAccessor& accessor : shape_.accessors) {
      if (accessor.stores && filling.contains(accessor.name)) filled.insert(accessor.table);
    }
    std::erase_if(shape_.accessors,
                  [&](const CppAccessor& accessor) { return !filled.contains(accessor.table); });
    std::erase_if(shape_.givers, [&](const auto& giver) {
      return giver.second < shape_.tables.size() && !filled.contains(giver.second);
    });
  }

  // Which registry a word speaks of: as what gives the object or the registry itself, or as what is
  // called.
  struct Reach {
    std::size_t table = 0;
    bool gives = false;
    bool calls = false;
  };

  std::multimap<std::string, Reach, std::less<>> reaches() const {
    std::multimap<std::string, Reach, std::less<>> words;
    std::set<std::size_t> tables;
    for (const CppAccessor& accessor : shape_.accessors) {
      words.emplace(accessor.name, Reach{accessor.table, !accessor.is_member, true});
      if (!tables.insert(accessor.table).second) continue;
      words.emplace(shape_.tables[accessor.table].owner, Reach{accessor.table, true, false});
    }
    for (const auto& [name, table] : shape_.givers) {
      if (tables.contains(table)) words.emplace(name, Reach{table, true, false});
    }
    return words;
  }

  // Tells the texts that may use some registry.
  class MayUse {
   public:
    explicit MayUse(std::multimap<std::string, Reach, std::less<>> reaches)
        : reaches_(std::move(reaches)), words_(names_of(reaches_)) {}

    bool operator()(std::string_view bytes) const {
      std::map<std::size_t, Reach> met;
      words_.for_each(bytes, [&](std::size_t, std::size_t, std::string_view word) {
        const auto [first, last] = reaches_.equal_range(word);
        for (auto one = first; one != last; ++one) {
          Reach& here = met[one->second.table];
          here.gives = here.gives || one->second.gives;
          here.calls = here.calls || one->second.calls;
        }
      });
      return std::any_of(met.begin(), met.end(),
                         [](const auto& one) { return one.second.gives && one.second.calls; });
    }

    // What every text has that may.
    WordQuery query() const {
      std::vector<std::string_view> names = givers();
      return WordQuery(names);
    }

    std::vector<std::string_view> givers() const {
      std::vector<std::string_view> names;
      for (const auto& [name, reach] : reaches_) {
        if (reach.gives) names.push_back(name);
      }
      return names;
    }

   private:
    static std::vector<std::string> names_of(
        const std::multimap<std::string, Reach, std::less<>>& reaches) {
      std::vector<std::string> names;
      for (const auto& [name, reach] : reaches) names.push_back(name);
      return names;
    }

    std::multimap<std::string, Reach, std::less<>> reaches_;
    WordSet words_;
  };

  // Owners of several maps, or of one name, can't be told apart by a call.
  void drop_doubtful() {
    std::map<std::string, std::size_t> times;
    for (const CppTable& table : shape_.tables) ++times[table.owner];
    std::erase_if(shape_.tables, [&](const CppTable& table) { return times[table.owner] > 1; });
  }

  // `Registry& registry()`, `static Registry& instance()`, `Registry table;`
  void find_givers(const PlainSource& source) {
    const Tokens tokens = source.unit.tokens;
    for (std::uint32_t at = 0; at + 2 < tokens.size(); ++at) {
      if (!tokens[at].is_identifier()) continue;
      const auto owner = owners_.find(tokens[at].text);
      if (owner == owners_.end()) continue;
      std::uint32_t name = at + 1;
      const bool given = tokens[name].is('&') || tokens[name].is('*');
      if (given) ++name;
      if (name + 1 >= tokens.size() || !tokens[name].is_identifier()) continue;
      // Other objects have a map each.
      if (!given || !tokens[name + 1].is('(')) {
        const std::uint32_t scope = source.scope_of(at);
        const bool global =
            scope == no_scope || source.shape.scopes[scope].kind == ScopeKind::name_space;
        if (given || !global) continue;
      } else if (gives_itself(source, at)) {
        continue;
      }
      const auto [known, is_new] = shape_.givers.emplace(tokens[name].text, owner->second);
      if (!is_new && known->second != owner->second) known->second = shape_.tables.size();
    }
  }

  // `Server& set_port(int)`: a method hands back the object that it is called on.
  static bool gives_itself(const PlainSource& source, std::uint32_t type) {
    const std::uint32_t scope = source.scope_of(type);
    if (scope == no_scope || source.shape.scopes[scope].kind != ScopeKind::type) return false;
    const std::vector<Token>& tokens = source.unit.tokens;
    for (std::uint32_t at = type; at > source.shape.scopes[scope].body.begin; --at) {
      const Token& before = tokens[at - 1];
      if (before.is("static") || before.is("friend")) return false;
      if (!before.is_identifier() && !before.is("::")) break;
    }
    return true;
  }

  std::string on_duplicate_of(std::size_t table) const {
    std::set<CppSecond> seconds;
    for (const CppAccessor& accessor : shape_.accessors) {
      if (accessor.table == table && accessor.stores) seconds.insert(accessor.second);
    }
    if (seconds.size() != 1) return {};
    if (*seconds.begin() == CppSecond::replaces) return "replace";
    return *seconds.begin() == CppSecond::ignored ? "ignore" : "";
  }

  void find_uses() {
    std::vector<std::string> names;
    for (const CppAccessor& accessor : shape_.accessors) names.push_back(accessor.name);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    const MayUse may_use(reaches());
    const std::vector<std::string_view> needles = may_use.givers();
    std::vector<VocabularyWord> words;
    std::vector<std::string_view> members;
    for (const std::string& name : names) {
      bool member = false;
      bool free = false;
      for (const CppAccessor& accessor : shape_.accessors) {
        if (accessor.name == name) (accessor.is_member ? member : free) = true;
      }
      if (free) words.push_back({name});
      if (member) members.push_back(name);
    }
    const Vocabulary vocabulary{words, members, members, needles, {}, {}};
    std::vector<std::string> paths;
    for (const std::size_t at : files_) paths.push_back(paths_[at]);
    SourceTree tree(paths, vocabulary, [this](const std::string& path, std::string& bytes) {
      const auto found = std::lower_bound(paths_.begin(), paths_.end(), path);
      if (found == paths_.end() || *found != path) return false;
      return texts_.read(static_cast<std::size_t>(found - paths_.begin()), bytes);
    });
    std::vector<std::size_t> numbers;
    for (FileId file = 0; file < tree.size(); ++file) {
      const auto place = std::lower_bound(paths_.begin(), paths_.end(), tree.path(file));
      numbers.push_back(static_cast<std::size_t>(place - paths_.begin()));
    }
    tree.discover(
        [&](FileId file, const WordQuery& any) { return texts_.may_hold(numbers[file], any); });
    const WordQuery giving = may_use.query();
    const WordQuery macros(tree.project_macros());
    Preprocessor preprocessor(tree);
    SourceUnit unit;
    Invocations found;
    std::string bytes;
    for (FileId file = 0; file < tree.size(); ++file) {
      const std::size_t number = numbers[file];
      const bool by_macro = texts_.may_hold(number, macros);
      if (!by_macro && !texts_.may_hold(number, giving)) continue;
      if (!texts_.read(number, bytes) || bytes.size() > most_bytes) continue;
      if (!by_macro && !may_use(bytes)) continue;
      preprocessor.run(file, bytes, unit);
      find_invocations(unit, vocabulary, found);
      read_uses(unit, found, static_cast<std::uint32_t>(number));
      see_braces(unit);
      if (unit.truncated) {
        for (Engine& engine : engines_) engine.known = false;
      }
    }
  }

  void read_uses(const SourceUnit& unit, const Invocations& found, std::uint32_t file) {
    for (const Invocation& one : found.list) {
      // The calls by which the registry's own functions hand on; a constructor of a registrar looks
      // like a word with a block behind it.
      const Scope* function = found.enclosing(one.scope, ScopeKind::function);
      const Scope* registrar = found.enclosing(one.scope, ScopeKind::macro_block);
      if (function != nullptr && is_inner(function->name)) continue;
      if (registrar != nullptr && is_inner(registrar->name)) continue;
      // A constructor, or a method that is declared.
      const bool in_class =
          one.scope != no_scope && found.scopes[one.scope].kind == ScopeKind::type;
      if (in_class || is_declared(unit, one)) continue;
      for (const CppAccessor& accessor : shape_.accessors) {
        if (accessor.name != one.name) continue;
        if (accessor.is_member != (one.form == InvocationForm::member)) continue;
        if (accessor.is_member && !is_called_on(unit, found, one, accessor)) continue;
        add_use(unit, found, one, accessor, file);
      }
    }
  }

  // `static Registrar r{"add", add};` registers too, and isn't read: what else is there isn't
  // known.
  void see_braces(const SourceUnit& unit) {
    const std::vector<Token>& tokens = unit.tokens;
    for (std::size_t at = 0; at + 2 < tokens.size(); ++at) {
      const bool opens =
          tokens[at + 1].is('{') || (tokens[at + 1].is_identifier() && tokens[at + 2].is('{'));
      if (!opens || !tokens[at].is_identifier()) continue;
      if (at > 0 && (tokens[at - 1].is("class") || tokens[at - 1].is("struct"))) continue;
      for (const CppAccessor& accessor : shape_.accessors) {
        if (accessor.stores && !accessor.is_member && tokens[at].is(accessor.name)) {
          engines_[accessor.table].known = false;
        }
      }
    }
  }

  bool is_inner(const std::string& name) const {
    const std::size_t colon = name.rfind("::");
    return shape_.inner.contains(colon == name.npos ? name : name.substr(colon + 2));
  }

  // `void Register(const std::string& name, Fn fn);`, or its definition.
  static bool is_declared(const SourceUnit& unit, const Invocation& one) {
    if (one.form == InvocationForm::declaration) return false;
    const std::uint32_t before = one.name_token == 0 ? 0 : one.name_token - 1;
    const Token& token = unit.tokens[before];
    const bool behind_type = token.is_identifier() && !token.is("return") && !token.is("else");
    return one.form == InvocationForm::call && before != one.name_token &&
           (behind_type || token.is('&') || token.is('*') || token.is('>') || token.is('~'));
  }

  // The object is the registry's: `Registry::instance().add`, `registry().add`, `table.add`.
  bool is_called_on(const SourceUnit& unit, const Invocations& found, const Invocation& one,
                    const CppAccessor& accessor) {
    const std::vector<Token>& tokens = unit.tokens;
    if (one.name_token < 2) return false;
    std::uint32_t at = one.name_token - 2;
    if (tokens[at].is(')') && found.partners[at] != no_token && found.partners[at] > 0) {
      at = found.partners[at] - 1;
    }
    if (!tokens[at].is_identifier()) return false;
    const std::string& owner = shape_.tables[accessor.table].owner;
    if (at >= 2 && tokens[at - 1].is("::")) return tokens[at - 2].is(owner);
    const auto giver = shape_.givers.find(std::string(tokens[at].text));
    if (giver != shape_.givers.end()) return giver->second == accessor.table;
    // `auto& registry = Registry::instance();`
    constexpr std::uint32_t most_back = 4000;
    for (std::uint32_t back = at; back > 1 && at - back < most_back; --back) {
      if (++steps_ > most_steps) break;
      if (tokens[back - 1].text != tokens[at].text || !tokens[back].is('=')) continue;
      for (std::uint32_t on = back; on < back + 8 && on < tokens.size(); ++on) {
        const auto given = shape_.givers.find(std::string(tokens[on].text));
        if (tokens[on].is(owner) ||
            (given != shape_.givers.end() && given->second == accessor.table)) {
          return true;
        }
      }
    }
    if (steps_ > most_steps) engines_[accessor.table].known = false;
    // Somebody's object: it may be the registry's.
    if (accessor.stores && one.arguments.size() > 1 &&
        engine_key_part(one.arguments[0]).sort == "t") {
      engines_[accessor.table].known = false;
    }
    return false;
  }

  void add_use(const SourceUnit& unit, const Invocations& found, const Invocation& one,
               const CppAccessor& accessor, std::uint32_t file) {
    Engine& engine = engines_[accessor.table];
    EngineEntry entry;
    entry.place = {file, one.offset, one.length};
    for (const std::size_t part : accessor.key) {
      EngineKeyPart value;
      if (part < one.arguments.size()) value = engine_key_part(one.arguments[part]);
      if (value.sort.empty()) {
        if (accessor.stores) engine.known = false;
        return;
      }
      entry.sort += value.sort + " ";
      if (!entry.key.empty()) entry.key += ", ";
      entry.key += value.text;
      entry.parts.push_back(std::move(value.text));
    }
    if (!accessor.stores) {
      if (is_in_try(unit, found, one.scope)) return;
      engine.lookups.push_back({entry.key, entry.sort, entry.place});
      return;
    }
    const bool has_value = accessor.key.size() < one.arguments.size();
    if (has_value) entry.function = text_of(one.arguments.back()).substr(0, 120);
    // Within a function, what is no function itself is state that is set again and again.
    const bool at_start = found.enclosing(one.scope, ScopeKind::function) == nullptr;
    entry.logged = at_start || (has_value && is_function(one.arguments.back()));
    entry.when = unit.conditions[one.condition];
    entry.macro = one.through_macro;
    entry.exact = entry.key;
    engine.entries.push_back(std::move(entry));
  }

  // Tokens looked at for what an object was made by.
  static constexpr std::uint64_t most_steps = 200'000'000;

  const std::vector<std::string>& paths_;
  const std::vector<std::size_t>& files_;
  const SourceTexts& texts_;
  std::uint64_t steps_ = 0;
  CppEngineShape shape_;
  std::map<std::string_view, std::size_t> owners_;
  std::vector<Engine> engines_;
  std::vector<Engine> literals_;
};

}  // namespace

EngineKeyPart engine_key_part(Tokens argument) {
  // `std::string("add")`
  if (argument.size() > 3 && argument.back().is(')') && argument[argument.size() - 2].is_string()) {
    argument = argument.subspan(argument.size() - 2, 1);
  }
  if (argument.empty()) return {};
  const bool only_strings = std::all_of(argument.begin(), argument.end(),
                                        [](const Token& token) { return token.is_string(); });
  if (only_strings) return {"t", string_value(argument)};
  if (argument.size() == 1 && argument[0].kind == TokenKind::number) {
    return {"n", std::string(argument[0].text)};
  }
  std::string text;
  for (const Token& token : argument) {
    if (!token.is_identifier() && !token.is("::")) return {};
    text += token.text;
  }
  const std::size_t colon = text.rfind("::");
  const std::string_view last =
      colon == text.npos ? std::string_view(text) : std::string_view(text).substr(colon + 2);
  // Where it is not of something, only the spelling tells an enumerator from a variable.
  if (colon == text.npos && !is_constant_word(last)) return {};
  return {".", std::string(last)};
}

bool is_in_try(const SourceUnit& unit, const Invocations& found, std::uint32_t scope) {
  for (std::size_t depth = 0; scope != no_scope && depth < 64; ++depth) {
    const Scope& one = found.scopes[scope];
    if (one.body.begin >= 2 && unit.tokens[one.body.begin - 2].is("try")) return true;
    scope = one.parent;
  }
  return false;
}

bool may_hold_maps(std::string_view bytes) { return bytes.find("map<") != bytes.npos; }

void find_cpp_maps(const PlainSource& source, std::uint32_t file, CppMaps& maps) {
  if (source.unit.bytes.size() > most_bytes) return;
  find_cpp_tables(source, file, maps.tables);
  find_cpp_literals(source, file, maps.literals);
}

std::vector<Engine> find_cpp_engines(const std::vector<std::string>& paths,
                                     const std::vector<std::size_t>& cpp_files,
                                     const SourceTexts& texts, CppMaps maps) {
  return CppFinder(paths, cpp_files, texts, std::move(maps)).run();
}

}  // namespace opseal
