#include "analyzers/sources/static_tables.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "analyzers/source/plain_source.h"
#include "analyzers/source/source_tree.h"
#include "analyzers/sources/cpp_function.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

using Names = std::set<std::string, std::less<>>;

// Of one tree; only one made to be slow has more.
constexpr std::size_t most_candidates = 512;
constexpr std::size_t most_names = 1024;

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
    for_each_with(functions_, [this] { find_types(); });
    std::map<std::string, std::size_t, std::less<>> makers = types_;
    makers.insert(functions_.begin(), functions_.end());
    for_each_with(makers, [this] {
      find_objects();
      find_macros();
    });
    for_each_with(macros_, [this] { find_uses(); });
    return std::move(records_);
  }

 private:
  using Index = std::map<std::string, std::size_t, std::less<>>;

  template <typename Visit>
  void for_each_with(const Index& names, Visit visit) {
    if (names.empty() || names.size() > most_names) return;
    std::vector<std::string> words;
    for (const auto& [name, table] : names) words.push_back(name);
    const WordQuery any_name(words);
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
    for (std::uint32_t at = 0; at + 3 < count(); ++at) {
      if (!token(at).is_identifier() || !is_container(token(at).text)) continue;
      if (!token(at + 1).is('<') || !at_namespace(at)) continue;
      const std::uint32_t name = behind_angles(plain_.unit.tokens, at + 1, 200);
      if (name == at + 1 || name + 1 >= count() || !token(name).is_identifier()) continue;
      const Token& behind = token(name + 1);
      if (!behind.is(';') && !behind.is('=') && !behind.is('{')) continue;
      if (!is_plain_definition(at)) continue;
      if (++candidates_ > most_candidates) return;
      const std::size_t table = tables_.size();
      bool used = false;
      for (const Scope& scope : plain_.shape.scopes) {
        if (scope.kind != ScopeKind::function || !is_registering(base_of(scope.name))) continue;
        if (!mentions(scope.body, token(name).text)) continue;
        // Of one that is hidden nobody else can call it.
        const auto [known, is_new] = functions_.emplace(base_of(scope.name), table);
        // Two tables of one file are as late as each other.
        const bool here = !is_new && known->second < table &&
                          tables_[known->second].place.file == plain_.unit.file;
        if (!is_new && !here && known->second != table) known->second = several;
        used = used || known->second == table;
      }
      if (used) tables_.push_back({std::string(token(name).text), place_of_token(name)});
    }
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

  // `A(…) : a(…) { register_it(…); }` in the class or outside.
  void find_types() {
    for (const Scope& scope : plain_.shape.scopes) {
      if (scope.kind != ScopeKind::function) continue;
      const std::string_view name = base_of(scope.name);
      const bool outside = scope.name.find("::") != std::string::npos &&
                           scope.name.ends_with(std::string(name) + "::" + std::string(name));
      const bool inside = scope.parent != no_scope &&
                          plain_.shape.scopes[scope.parent].kind == ScopeKind::type &&
                          base_of(plain_.shape.scopes[scope.parent].name) == name;
      if (!outside && !inside) continue;
      const std::size_t table = called_in(scope.body);
      if (table == several) continue;
      const auto [known, is_new] = types_.emplace(name, table);
      if (!is_new && known->second != table) known->second = several;
    }
  }

  // The table of the first function that registers there.
  std::size_t called_in(TokenRange range) const {
    for (std::uint32_t at = range.begin; at + 1 < range.end; ++at) {
      if (!token(at).is_identifier() || !token(at + 1).is('(')) continue;
      const auto function = functions_.find(token(at).text);
      if (function != functions_.end()) return function->second;
    }
    return several;
  }

  // `static Registrar r("x", …);`, `static bool r = register_it("x", …);` of another file.
  void find_objects() {
    for (std::uint32_t at = 1; at + 2 < count(); ++at) {
      if (!token(at).is_identifier()) continue;
      const auto type = types_.find(token(at).text);
      if (type != types_.end() && token(at + 1).is_identifier() && says_text(at + 2) &&
          at_namespace(at)) {
        add(type->second, type->first, token(at + 1).text, place_of_token(at));
        continue;
      }
      const auto function = functions_.find(token(at).text);
      if (function == functions_.end() || !says_text(at + 1) || !at_namespace(at)) continue;
      std::uint32_t before = at;
      while (before > 0 && (token(before - 1).is("::") || token(before - 1).is_identifier())) {
        --before;
      }
      if (before < 2 || !token(before - 1).is('=') || !token(before - 2).is_identifier()) continue;
      add(function->second, function->first, token(before - 2).text, place_of_token(at));
    }
  }

  // Brackets with a text in them: no declaration of a function.
  bool says_text(std::uint32_t open) const {
    if (open >= count() || (!token(open).is('(') && !token(open).is('{'))) return false;
    const std::uint32_t close = plain_.shape.partners[open];
    if (close == no_token) return false;
    const Tokens inside = Tokens(plain_.unit.tokens).subspan(open + 1, close - open - 1);
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
        const auto type = types_.find(body[at].text);
        const bool object = type != types_.end() && body[at + 1].is_identifier();
        const auto function = functions_.find(body[at].text);
        const bool called = function != functions_.end() && body[at + 1].is('(') &&
                            std::any_of(body.begin(), body.begin() + static_cast<long>(at),
                                        [](const Token& one) { return one.is('='); });
        if (!object && !called) continue;
        macros_.emplace(definition.name, object ? type->second : function->second);
        break;
      }
    }
  }

  void find_uses() {
    for (std::uint32_t at = 0; at + 1 < count(); ++at) {
      if (!token(at).is_identifier() || !token(at + 1).is('(')) continue;
      const auto macro = macros_.find(token(at).text);
      if (macro == macros_.end() || !at_namespace(at)) continue;
      add(macro->second, macro->first, {}, place_of_token(at));
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

  static constexpr std::size_t several = static_cast<std::size_t>(-1);

  const std::vector<std::string>& paths_;
  const std::vector<std::size_t>& cpp_files_;
  const SourceTexts& texts_;
  PlainSource plain_;
  std::vector<StaticTable> tables_;
  // Those that nothing uses too.
  std::size_t candidates_ = 0;
  // Of each name the table, or `several`.
  Index functions_;
  Index types_;
  Index macros_;
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
