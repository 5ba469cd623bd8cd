#include "analyzers/sources/static_tables.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "analyzers/source/plain_source.h"
#include "analyzers/source/source_tree.h"
#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/defined_names.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

// Of one tree; only one made to be slow has more.
constexpr std::size_t most_candidates = 512;
constexpr std::size_t most_names = 1024;
// Tokens of functions.
constexpr std::size_t most_steps = 8'000'000;
// Of a name with its namespaces.
constexpr std::uint32_t longest_name = 64;

// Containers that are no tables before their constructor has run.
constexpr std::string_view containers[] = {"map",           "multimap", "unordered_map",
                                           "unordered_set", "set",      "list"};

bool is_container(std::string_view word) {
  return is_one_of(word, std::span<const std::string_view>(containers));
}

bool is_registering(std::string_view name) { return has_any(name, {"egister"}); }

struct StaticTable {
  std::string name;
  SourcePlace place;
};

class Finder {
 public:
  Finder(const std::vector<std::string>& paths, const std::vector<std::size_t>& cpp_files,
         const SourceTexts& texts)
      : paths_(paths), cpp_files_(cpp_files), texts_(texts) {}

  std::vector<RegistrarRecord> run(const std::vector<std::size_t>& holding) {
    std::string bytes;
    for (const std::size_t at : holding) {
      // A header's table is another one in each file, or one of the language's own order.
      if (is_header_path(paths_[at]) || !texts_.read(at, bytes)) continue;
      read_plain(static_cast<std::uint32_t>(at), bytes, plain_);
      find_tables();
    }
    if (functions_.empty()) return {};
    const std::vector<std::string> functions = functions_.names();
    for_each_with(functions, [this] { find_functions(); });
    for_each_with(functions, [this] { find_types(); });
    std::vector<std::string> makers = types_.names();
    if (!makers.empty()) for_each_with(makers, [this] { find_other_types(); });
    makers.insert(makers.end(), functions.begin(), functions.end());
    for_each_with(makers, [this] {
      find_objects();
      find_macros();
    });
    std::vector<std::string> macros;
    for (const auto& [name, made] : macros_) macros.push_back(name);
    for_each_with(macros, [this] { find_other_macros(); });
    for_each_with(macros, [this] { find_uses(); });
    return std::move(records_);
  }

 private:
  // What a macro makes, as its body names it.
  struct Made {
    bool object = false;
    std::string name;
    DefinedNames::Use use;
    std::uint32_t file = 0;
    // Defined in another file as something else.
    bool unclear = false;
  };

  template <typename Visit>
  void for_each_with(const std::vector<std::string>& names, Visit visit) {
    if (names.empty() || names.size() > most_names) return;
    const WordQuery any_name(names);
    std::string bytes;
    for (const std::size_t at : cpp_files_) {
      if (!texts_.read_holding(any_name, at, bytes)) continue;
      read_plain(static_cast<std::uint32_t>(at), bytes, plain_);
      visit();
    }
  }

  const Token& token(std::size_t at) const { return plain_.unit.tokens[at]; }
  std::size_t count() const { return plain_.unit.tokens.size(); }
  SourcePlace place_of_token(std::size_t at) const {
    return {plain_.unit.file, token(at).offset, token(at).length};
  }

  bool at_namespace(std::size_t at) const {
    std::uint32_t scope = plain_.scope_of(static_cast<std::uint32_t>(at));
    for (std::size_t depth = 0; scope != no_scope && depth < 64; ++depth) {
      const Scope& one = plain_.shape.scopes[scope];
      if (one.kind != ScopeKind::name_space && one.kind != ScopeKind::linkage) return false;
      scope = one.parent;
    }
    return scope == no_scope;
  }

  // `std::map<K, V> name;`, also with an initializer, and the functions that use it.
  void find_tables() {
    std::map<std::string_view, std::uint32_t> found;
    for (std::uint32_t at = 0; at + 3 < count(); ++at) {
      if (!token(at).is_identifier() || !is_container(token(at).text)) continue;
      if (!token(at + 1).is('<') || !at_namespace(at)) continue;
      const std::uint32_t name = behind_angles(plain_.unit.tokens, at + 1, 200);
      if (name == at + 1 || name + 1 >= count() || !token(name).is_identifier()) continue;
      const Token& behind = token(name + 1);
      if (!behind.is(';') && !behind.is('=') && !behind.is('{')) continue;
      if (!is_plain_definition(at)) continue;
      if (++candidates_ > most_candidates) break;
      found.try_emplace(token(name).text, name);
    }
    if (!found.empty()) find_fillers(found);
  }

  // Functions that are named for registration and use one of the tables; two tables of one file are
  // as late as each other.
  void find_fillers(const std::map<std::string_view, std::uint32_t>& found) {
    std::map<std::uint32_t, std::size_t> numbers;
    for (const Scope& scope : plain_.shape.scopes) {
      if (scope.kind != ScopeKind::function || !is_registering(base_of(scope.name))) continue;
      const std::uint32_t name = first_mentioned(scope.body, found);
      if (name == no_token) continue;
      const auto [known, is_new] = numbers.try_emplace(name, tables_.size());
      if (is_new) tables_.push_back({std::string(token(name).text), place_of_token(name)});
      functions_.add(base_of(scope.name), owner_of_function(plain_, scope), plain_.unit.file,
                     known->second);
    }
  }

  // The token that a table is named by; no_token where there is none.
  std::uint32_t first_mentioned(TokenRange range,
                                const std::map<std::string_view, std::uint32_t>& found) {
    for (std::uint32_t at = range.begin; at < range.end; ++at) {
      // Functions within each other are looked at again.
      if (++steps_ > most_steps) return no_token;
      if (!token(at).is_identifier()) continue;
      const auto table = found.find(token(at).text);
      const Token& before = token(at - 1);
      if (table != found.end() && !before.is('.') && !before.is("->")) return table->second;
    }
    return no_token;
  }

  // Up to the beginning of the statement nothing but `static`, `const` and the namespace.
  bool is_plain_definition(std::uint32_t at) const {
    while (at > 0) {
      const Token& before = token(at - 1);
      if (before.is(';') || before.is('{') || before.is('}')) return true;
      if (!before.is("static") && !before.is("const") && !before.is("std") && !before.is("::"))
        return false;
      --at;
    }
    return true;
  }

  bool mentions(TokenRange range, std::string_view name) const {
    for (std::uint32_t at = range.begin; at < range.end; ++at) {
      if (!token(at).is(name) || !token(at).is_identifier()) continue;
      const Token& before = token(at - 1);
      if (!before.is('.') && !before.is("->")) return true;
    }
    return false;
  }

  // Those of the same names that use no table.
  void find_functions() {
    for (const Scope& scope : plain_.shape.scopes) {
      if (scope.kind != ScopeKind::function) continue;
      const std::string_view name = base_of(scope.name);
      // One that calls its namesake does what that does.
      if (!functions_.contains(name) || mentions(scope.body, name)) continue;
      functions_.add(name, owner_of_function(plain_, scope), plain_.unit.file, several);
    }
  }

  // `A(…) : a(…) { register_it(…); }` in the class or outside.
  void find_types() {
    for (const Scope& scope : plain_.shape.scopes) {
      if (!is_constructor(scope)) continue;
      const std::size_t table = called_in(scope.body);
      if (table == several) continue;
      types_.add(base_of(scope.name), owner_of_type(scope), plain_.unit.file, table);
    }
  }

  // Classes of these names, and constructors that register nothing.
  void find_other_types() {
    for (const Scope& scope : plain_.shape.scopes) {
      if (scope.kind == ScopeKind::type && types_.contains(base_of(scope.name))) {
        types_.add_weak(base_of(scope.name), owner_path(plain_, scope.parent), plain_.unit.file);
      } else if (types_.contains(base_of(scope.name)) && is_constructor(scope)) {
        types_.add(base_of(scope.name), owner_of_type(scope), plain_.unit.file, several);
      }
    }
  }

  bool is_constructor(const Scope& scope) const {
    if (scope.kind != ScopeKind::function) return false;
    const std::string_view name = base_of(scope.name);
    const bool outside = scope.name.find("::") != std::string::npos &&
                         scope.name.ends_with(std::string(name) + "::" + std::string(name));
    return outside ||
           (scope.parent != no_scope && plain_.shape.scopes[scope.parent].kind == ScopeKind::type &&
            base_of(plain_.shape.scopes[scope.parent].name) == name);
  }

  // What the class of a constructor is defined in.
  std::string owner_of_type(const Scope& constructor) const {
    const std::string path = owner_of_function(plain_, constructor);
    const std::size_t at = path.rfind("::");
    return at == std::string::npos ? std::string() : path.substr(0, at);
  }

  // The table of the first function that registers there.
  std::size_t called_in(TokenRange range) const {
    for (std::uint32_t at = range.begin; at + 1 < range.end; ++at) {
      if (!token(at).is_identifier() || !token(at + 1).is('(')) continue;
      if (functions_.contains(token(at).text)) return functions_.meaning_of(use_at(plain_, at));
    }
    return several;
  }

  // `static Registrar r("x", …);`, `static bool r = register_it("x", …);` of another file.
  void find_objects() {
    for (std::uint32_t at = 1; at + 2 < count(); ++at) {
      if (!token(at).is_identifier()) continue;
      const std::string_view name = token(at).text;
      if (types_.contains(name) && token(at + 1).is_identifier() && says_text(at + 2) &&
          at_namespace(at)) {
        add(types_.meaning_of(use_at(plain_, at)), std::string(name), token(at + 1).text,
            place_of_token(at));
        continue;
      }
      if (!functions_.contains(name)) continue;
      std::uint32_t before = at;
      while (before > 0 && at - before < longest_name &&
             (token(before - 1).is("::") || token(before - 1).is_identifier())) {
        --before;
      }
      if (before < 2 || !token(before - 1).is('=') || !token(before - 2).is_identifier()) continue;
      if (!says_text(at + 1) || !at_namespace(at)) continue;
      add(functions_.meaning_of(use_at(plain_, at)), std::string(name), token(before - 2).text,
          place_of_token(at));
    }
  }

  // Brackets with a text in them: no declaration of a function.
  bool says_text(std::uint32_t open) const {
    if (open >= count() || (!token(open).is('(') && !token(open).is('{'))) return false;
    const std::uint32_t close = plain_.shape.partners[open];
    if (close == no_token) return false;
    // The name comes first.
    constexpr std::uint32_t most_looked_at = 256;
    const Tokens inside =
        Tokens(plain_.unit.tokens).subspan(open + 1, std::min(close - open - 1, most_looked_at));
    return std::any_of(inside.begin(), inside.end(),
                       [](const Token& one) { return one.is_string(); });
  }

  // `#define REGISTER(x) static Registrar r_##x(#x, …)`
  void find_macros() {
    for (const SourceDefinition& definition : plain_.definitions) {
      if (!definition.function_like) continue;
      const Tokens body = plain_.directive(definition.body);
      for (std::size_t at = 0; at + 2 < body.size(); ++at) {
        if (!body[at].is_identifier()) continue;
        const bool object = types_.contains(body[at].text) && body[at + 1].is_identifier();
        const bool called = functions_.contains(body[at].text) && body[at + 1].is('(') &&
                            std::any_of(body.begin(), body.begin() + static_cast<long>(at),
                                        [](const Token& one) { return one.is('='); });
        if (!object && !called) continue;
        Made made{object, std::string(body[at].text), {}, plain_.unit.file, false};
        read_qualifier(body, at, made.use);
        macros_.emplace(definition.name, std::move(made));
        break;
      }
    }
  }

  void find_other_macros() {
    for (const SourceDefinition& definition : plain_.definitions) {
      const auto macro = macros_.find(definition.name);
      if (macro != macros_.end() && macro->second.file != plain_.unit.file) {
        macro->second.unclear = true;
      }
    }
  }

  void find_uses() {
    for (std::uint32_t at = 0; at + 1 < count(); ++at) {
      if (!token(at).is_identifier() || !token(at + 1).is('(')) continue;
      const auto macro = macros_.find(token(at).text);
      if (macro == macros_.end() || !at_namespace(at)) continue;
      const Made& made = macro->second;
      if (made.unclear && made.file != plain_.unit.file) continue;
      DefinedNames::Use use = made.use;
      use.name = made.name;
      use.around = owner_path(plain_, plain_.scope_of(at));
      use.file = plain_.unit.file;
      add((made.object ? types_ : functions_).meaning_of(use), macro->first, {},
          place_of_token(at));
    }
  }

  void add(std::size_t table, const std::string& type, std::string_view name,
           const SourcePlace& place) {
    if (table == several) return;
    // A header's objects are those of whoever includes it.
    if (is_header_path(paths_[place.file])) return;
    // Of the same file they are made in order.
    const bool elsewhere = tables_[table].place.file != place.file;
    if (!told_.insert({elsewhere ? table : several, type}).second) return;
    RegistrarRecord record;
    record.type = type;
    record.name = name;
    record.storage = "static";
    record.place = place;
    record.says_uses = true;
    if (elsewhere) record.uses.push_back({{tables_[table].name, place}, tables_[table].place});
    records_.push_back(std::move(record));
  }

  static constexpr std::size_t several = DefinedNames::several;

  const std::vector<std::string>& paths_;
  const std::vector<std::size_t>& cpp_files_;
  const SourceTexts& texts_;
  PlainSource plain_;
  std::vector<StaticTable> tables_;
  // Those that nothing uses too.
  std::size_t candidates_ = 0;
  std::size_t steps_ = 0;
  // Of each name the table.
  DefinedNames functions_;
  DefinedNames types_;
  std::map<std::string, Made, std::less<>> macros_;
  std::set<std::pair<std::size_t, std::string>> told_;
  std::vector<RegistrarRecord> records_;
};

}  // namespace

bool may_hold_static_table(std::string_view bytes) {
  if (bytes.find("egister") == bytes.npos) return false;
  return has_any(bytes, {"map<", "set<", "list<"});
}

std::vector<RegistrarRecord> find_static_tables(const std::vector<std::string>& paths,
                                                const std::vector<std::size_t>& cpp_files,
                                                const std::vector<std::size_t>& holding,
                                                const SourceTexts& texts) {
  return Finder(paths, cpp_files, texts).run(holding);
}

}  // namespace opseal
