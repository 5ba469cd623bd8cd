#include "analyzers/sources/engines_cpp.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "analyzers/source/invocations.h"
#include "analyzers/source/needles.h"
#include "analyzers/source/preprocessor.h"
#include "analyzers/source/source_tree.h"

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

class CppFinder {
 public:
  CppFinder(const std::vector<std::string>& paths, const std::vector<std::size_t>& files,
            const ReadNumbered& read)
      : paths_(paths), files_(files), read_(read) {}

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
  template <typename Visit>
  void for_each_source(const Needles& needles, const Visit& visit) {
    std::string bytes;
    PlainSource source;
    for (const std::size_t at : files_) {
      if (!read_(at, bytes) || bytes.size() > most_bytes || !needles.occur_in(bytes)) continue;
      read_plain(static_cast<FileId>(at), bytes, source);
      visit(static_cast<std::uint32_t>(at), source);
    }
  }

  void find_shape() {
    for_each_source(Needles({"map<"}), [this](std::uint32_t file, const PlainSource& source) {
      find_cpp_tables(source, file, shape_.tables);
      find_cpp_literals(source, file, literals_);
    });
    drop_doubtful();
    if (shape_.tables.empty()) return;
    std::vector<std::string> words;
    for (std::size_t at = 0; at < shape_.tables.size(); ++at) {
      words.push_back(shape_.tables[at].owner);
      owners_[shape_.tables[at].owner] = at;
    }
    const Needles owners(words);
    for_each_source(owners, [this](std::uint32_t, const PlainSource& source) {
      find_cpp_accessors(source, false, shape_);
      find_givers(source);
    });
    if (shape_.accessors.empty()) return;
    words.clear();
    for (const CppAccessor& accessor : shape_.accessors) words.push_back(accessor.name);
    for_each_source(Needles(words), [this](std::uint32_t, const PlainSource& source) {
      find_cpp_accessors(source, true, shape_);
    });
    // What nobody registers through is no registry.
    std::set<std::size_t> filled;
    for (const CppAccessor& accessor : shape_.accessors) {
      if (accessor.stores) filled.insert(accessor.table);
    }
    std::erase_if(shape_.accessors,
                  [&](const CppAccessor& accessor) { return !filled.contains(accessor.table); });
  }

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
      }
      const auto [known, is_new] = shape_.givers.emplace(tokens[name].text, owner->second);
      if (!is_new && known->second != owner->second) known->second = shape_.tables.size();
    }
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
    std::vector<VocabularyWord> words;
    std::vector<std::string_view> members;
    std::vector<std::string_view> needles;
    for (const std::string& name : names) {
      needles.push_back(name);
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
      return read_(static_cast<std::size_t>(found - paths_.begin()), bytes);
    });
    tree.discover();
    Preprocessor preprocessor(tree);
    SourceUnit unit;
    Invocations found;
    std::string bytes;
    for (FileId file = 0; file < tree.size(); ++file) {
      if (!tree.read(file, bytes) || bytes.size() > most_bytes || !tree.has_needle(bytes)) continue;
      preprocessor.run(file, bytes, unit);
      find_invocations(unit, vocabulary, found);
      const auto place = std::lower_bound(paths_.begin(), paths_.end(), tree.path(file));
      read_uses(unit, found, static_cast<std::uint32_t>(place - paths_.begin()));
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
  const ReadNumbered& read_;
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
  const bool is_constant =
      last.size() > 1 &&
      ((last[0] == 'k' && last[1] >= 'A' && last[1] <= 'Z') ||
       std::none_of(last.begin(), last.end(), [](char c) { return c >= 'a' && c <= 'z'; }));
  if (colon == text.npos && !is_constant) return {};
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

std::vector<Engine> find_cpp_engines(const std::vector<std::string>& paths,
                                     const std::vector<std::size_t>& cpp_files,
                                     const ReadNumbered& read) {
  return CppFinder(paths, cpp_files, read).run();
}

}  // namespace opseal
