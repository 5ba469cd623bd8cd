#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "analyzers/python/conditions.h"
#include "analyzers/python/constants.h"
#include "analyzers/python/scopes.h"
#include "analyzers/python/syntax.h"
#include "analyzers/python/table_access.h"
#include "analyzers/python/table_keys.h"
#include "analyzers/python/tables.h"

namespace opseal {

namespace {

using Access = PythonTableAccess::Kind;
using Binding = PythonBinding::Kind;

constexpr std::size_t most_tables = 512;
constexpr std::size_t most_entries = 20000;

// What one function does with one table.
struct Doings {
  std::vector<PythonTableAccess> accesses;
};

// The statements of a function that decide what a key that isn't there comes to.
struct Body {
  std::size_t returns = 0;
  bool raises = false;
  bool tries = false;
  bool imports = false;
};

class Definitions {
 public:
  explicit Definitions(const ParsedPython& file)
      : syntax_(file.syntax), scopes_(file.scopes), constants_(syntax_, scopes_) {}

  std::vector<PythonTable> run() {
    for (SyntaxIndex index = 0; index < syntax_.nodes.size(); ++index) {
      if (syntax_.is(index, SyntaxKind::assignment)) look_at_assignment(index);
    }
    if (tables_.empty()) return {};
    for (SyntaxIndex index = 0; index < syntax_.nodes.size(); ++index) {
      const SyntaxKind kind = syntax_[index].kind;
      if (kind == SyntaxKind::identifier || kind == SyntaxKind::attribute) look_at_name(index);
    }
    for (const auto& [at, doings] : doings_) read_function(at.first, at.second, doings);
    keep_first_keys();
    find_own_calls();
    // What can't be parsed may fill any of them.
    if (syntax_.first_error != no_syntax) {
      for (PythonTable& table : tables_) table.open = true;
    }
    return std::move(tables_);
  }

 private:
  // The class within whose body a node stands, or whose method `function` is; 0 for the module.
  SyntaxIndex class_of(SyntaxIndex function) const {
    const SyntaxIndex scope = scopes_.scope_of(function);
    return scope != no_syntax && syntax_.is(scope, SyntaxKind::class_definition) ? scope : 0;
  }

  std::string name_of(SyntaxIndex definition) const {
    const SyntaxIndex name =
        definition == 0 ? no_syntax : syntax_.child(definition, SyntaxField::name);
    return name == no_syntax ? std::string() : std::string(syntax_.text_of(name));
  }

  void look_at_assignment(SyntaxIndex assignment) {
    const SyntaxIndex left = syntax_.child(assignment, SyntaxField::left);
    const SyntaxIndex right = syntax_.child(assignment, SyntaxField::right);
    if (left == no_syntax || right == no_syntax || !is_new_table(syntax_, right)) return;
    SyntaxIndex owner = 0;
    SyntaxIndex name = left;
    bool of_object = false;
    if (syntax_.is(left, SyntaxKind::identifier)) {
      owner = scopes_.scope_of(assignment);
      if (owner == no_syntax) return;
      if (owner != 0 && !syntax_.is(owner, SyntaxKind::class_definition)) return;
    } else if (syntax_.is(left, SyntaxKind::attribute)) {
      const SyntaxIndex object = syntax_.child(left, SyntaxField::object);
      const SyntaxIndex function = function_around(syntax_, left);
      if (function == no_syntax || syntax_.text_of(object) != "self") return;
      owner = class_of(function);
      if (owner == 0) return;
      name = syntax_.child(left, SyntaxField::attribute);
      of_object = true;
    } else {
      return;
    }
    const auto key = std::pair(owner, syntax_.text_of(name));
    const auto known = by_name_.find(key);
    if (known != by_name_.end()) {
      // Emptied, or made anew: not what it seemed.
      tables_[known->second].open = true;
      return;
    }
    if (tables_.size() == most_tables) return;
    PythonTable table;
    table.name = syntax_.text_of(name);
    table.owner = name_of(owner);
    table.of_object = of_object;
    table.place = syntax_.place_of(name);
    add_literal(right, table);
    by_name_.emplace(key, tables_.size());
    names_.insert(key.second);
    tables_.push_back(std::move(table));
  }

  void add_literal(SyntaxIndex right, PythonTable& table) {
    right = syntax_.unwrapped(right);
    if (!syntax_.is(right, SyntaxKind::dictionary)) return;
    std::size_t functions = 0;
    add_pairs(right, {}, table, functions);
    table.of_functions = functions > 0 && functions * 2 >= table.entries.size();
  }

  // `{"int8": {"cuda": f, "cpu": g}}` has keys of two parts.
  void add_pairs(SyntaxIndex dictionary, const std::vector<PythonKeyValue>& outer,
                 PythonTable& table, std::size_t& functions) {
    constexpr std::size_t most_levels = 3;
    for (const SyntaxIndex pair : syntax_.children(dictionary)) {
      const SyntaxIndex key =
          syntax_.is(pair, SyntaxKind::pair) ? syntax_.child(pair, SyntaxField::key) : no_syntax;
      const SyntaxIndex value =
          key == no_syntax ? no_syntax : syntax_.child(pair, SyntaxField::value);
      // `**others`
      if (value == no_syntax || table.entries.size() == most_entries) {
        table.open = true;
        continue;
      }
      constants_.restart();
      PythonTableEntry entry;
      entry.key = outer;
      for (PythonKeyValue& part : python_key(syntax_, scopes_, constants_, key)) {
        entry.key.push_back(std::move(part));
      }
      if (!is_decided(entry.key)) {
        table.open = true;
        continue;
      }
      const SyntaxKind kind = syntax_[value].kind;
      if (kind == SyntaxKind::dictionary && entry.key.size() < most_levels &&
          syntax_.first(value) != no_syntax) {
        add_pairs(value, entry.key, table, functions);
        continue;
      }
      entry.place = syntax_.place_of(key);
      if (kind == SyntaxKind::identifier || kind == SyntaxKind::attribute ||
          kind == SyntaxKind::lambda) {
        ++functions;
        entry.value = kind == SyntaxKind::lambda ? "lambda" : syntax_.text_of(value).substr(0, 256);
      }
      table.entries.push_back(std::move(entry));
    }
  }

  void look_at_name(SyntaxIndex index) {
    SyntaxIndex owner = 0;
    std::string_view name;
    if (syntax_.is(index, SyntaxKind::identifier)) {
      name = syntax_.text_of(index);
      if (syntax_[index].field == SyntaxField::attribute) return;
      if (syntax_.is(syntax_[index].parent, SyntaxKind::keyword_argument) &&
          syntax_[index].field == SyntaxField::name) {
        return;
      }
      if (!names_.contains(name)) return;
      // In the body of its class.
      const SyntaxIndex scope = scopes_.scope_of(index);
      const bool in_class =
          scope != no_syntax && by_name_.contains(std::pair(scope, name)) && scope != 0;
      const std::vector<PythonBinding>& found = scopes_.find(name, index);
      if (found.empty()) return;
      if (in_class) {
        owner = scope;
      } else if (scopes_.scope_of(found.front().name) != 0) {
        return;
      }
    } else {
      const SyntaxIndex object = syntax_.child(index, SyntaxField::object);
      const SyntaxIndex attribute = syntax_.child(index, SyntaxField::attribute);
      if (!syntax_.is(object, SyntaxKind::identifier) || attribute == no_syntax) return;
      name = syntax_.text_of(attribute);
      const std::string_view head = syntax_.text_of(object);
      const SyntaxIndex function = function_around(syntax_, index);
      owner = function == no_syntax ? 0 : class_of(function);
      if (head != "self" && head != "cls") {
        // `Registry._table` in the file of the class.
        const PythonBinding* binding = scopes_.only(head, object);
        const bool is_class = binding != nullptr && binding->kind == Binding::definition &&
                              syntax_.is(binding->value, SyntaxKind::class_definition);
        if (!is_class) return;
        owner = binding->value;
      }
      if (owner == 0) return;
    }
    const auto found = by_name_.find(std::pair(owner, name));
    if (found == by_name_.end()) return;
    note(found->second, index);
  }

  void note(std::size_t table, SyntaxIndex index) {
    PythonTableAccess access = python_table_access(syntax_, index);
    const SyntaxIndex function = function_around(syntax_, index);
    if (access.kind == Access::whole || access.kind == Access::harmless) return;
    if (access.kind == Access::unknown) {
      tables_[table].open = true;
      return;
    }
    // Uses by constant keys are read with those of other files.
    if (function == no_syntax) return;
    doings_[{table, function}].accesses.push_back(std::move(access));
  }

  bool is_method(SyntaxIndex function, bool& of_class) const {
    of_class = false;
    if (class_of(function) == 0) return false;
    const SyntaxIndex around = syntax_[function].parent;
    if (!syntax_.is(around, SyntaxKind::decorated_definition)) return true;
    for (const SyntaxIndex part : syntax_.children(around)) {
      if (!syntax_.is(part, SyntaxKind::decorator)) continue;
      const std::string_view text = syntax_.text_of(part);
      if (text.starts_with("@staticmethod")) {
        of_class = true;
        return false;
      }
      of_class = of_class || text.starts_with("@classmethod");
    }
    return true;
  }

  const Body& body_of(SyntaxIndex function) {
    const auto [known, is_new] = bodies_.try_emplace(function);
    Body& body = known->second;
    if (!is_new) return body;
    for (SyntaxIndex index = function; index < syntax_[function].next; ++index) {
      switch (syntax_[index].kind) {
        case SyntaxKind::return_statement:
          ++body.returns;
          break;
        case SyntaxKind::try_statement:
          body.tries = true;
          break;
        case SyntaxKind::import_statement:
        case SyntaxKind::import_from_statement:
          body.imports = true;
          break;
        case SyntaxKind::identifier:
          if (syntax_.text_of(index).find("import") != std::string_view::npos ||
              syntax_.text_of(index).find("load") != std::string_view::npos) {
            body.imports = true;
          }
          break;
        case SyntaxKind::other: {
          const std::string_view text = syntax_.text_of(index);
          body.raises = body.raises || text.starts_with("raise") || text.starts_with("assert");
          break;
        }
        default:
          break;
      }
    }
    return body;
  }

  void read_function(std::size_t at, SyntaxIndex function, const Doings& doings) {
    PythonTable& table = tables_[at];
    constexpr std::size_t most_accesses = 64;
    if (doings.accesses.size() > most_accesses) {
      table.open = true;
      return;
    }
    PythonAccessor accessor;
    const bool method = is_method(function, accessor.of_class);
    accessor.name = name_of(function);
    constants_.restart();
    const bool fixed =
        table_parameters(syntax_, scopes_, constants_, function, method, accessor.parameters);
    const Body& body = body_of(function);
    read_stores(table, function, doings, accessor, fixed, body);
    read_lookups(table, function, doings, accessor, fixed, body);
  }

  // The key of an access; false where it isn't made of parameters and constants alone.
  bool key_of(SyntaxIndex function, const PythonTableAccess& access, PythonAccessor& accessor) {
    accessor.key.clear();
    for (const SyntaxIndex key : access.keys) {
      const bool read = add_key_parts(syntax_, scopes_, constants_, function, accessor.parameters,
                                      key, accessor.key);
      if (!read) return false;
    }
    return !accessor.key.empty();
  }

  static bool is_constant(const PythonAccessor& accessor) {
    for (const PythonTableKeyPart& part : accessor.key) {
      for (const PythonTableKeyPiece& piece : part.pieces) {
        if (piece.parameter >= 0 || piece.decorated) return false;
      }
    }
    return true;
  }

  void read_stores(PythonTable& table, SyntaxIndex function, const Doings& doings,
                   PythonAccessor accessor, bool fixed, const Body& body) {
    for (const PythonTableAccess& access : doings.accesses) {
      const bool stores = access.kind == Access::store || access.kind == Access::keep ||
                          access.kind == Access::append;
      if (!stores || is_new_container(syntax_, access.value)) continue;
      if (!key_of(function, access, accessor)) {
        table.open = true;
        continue;
      }
      // With a constant key it is read as a use.
      if (is_constant(accessor)) continue;
      if (!fixed) {
        table.open = true;
        continue;
      }
      accessor.stores = true;
      const PythonSecond second = second_of(access, doings, accessor.key.size(), body);
      const bool first = std::none_of(table.accessors.begin(), table.accessors.end(),
                                      [](const PythonAccessor& other) { return other.stores; });
      table.second = first || table.second == second ? second : PythonSecond::unknown;
      table.accessors.push_back(accessor);
    }
  }

  static PythonSecond second_of(const PythonTableAccess& store, const Doings& doings,
                                std::size_t parts, const Body& body) {
    if (store.kind == Access::append) return PythonSecond::unknown;
    for (const PythonTableAccess& access : doings.accesses) {
      const bool looks = access.kind == Access::read || access.kind == Access::get ||
                         access.kind == Access::test || access.kind == Access::keep;
      // `if op not in T: T[op] = {}` asks for a part of the key alone.
      const bool asks_part = access.kind == Access::test && access.keys.size() < parts &&
                             store.keys.size() > access.keys.size();
      if (looks && !asks_part && &access != &store) {
        return body.raises ? PythonSecond::raises : PythonSecond::unknown;
      }
    }
    if (body.raises) return PythonSecond::unknown;
    return store.kind == Access::keep ? PythonSecond::ignored : PythonSecond::replaces;
  }

  void read_lookups(PythonTable& table, SyntaxIndex function, const Doings& doings,
                    PythonAccessor accessor, bool fixed, const Body& body) {
    std::vector<PythonTableKeyPart> key;
    std::string written;
    std::size_t reads = 0;
    std::size_t gets = 0;
    std::size_t tests = 0;
    bool followed = fixed;
    bool returned = false;
    bool any = false;
    for (const PythonTableAccess& access : doings.accesses) {
      if (access.kind == Access::store || access.kind == Access::keep ||
          access.kind == Access::append) {
        // Made when it is asked for.
        if (!is_new_container(syntax_, access.value)) followed = false;
        continue;
      }
      std::string text;
      for (const SyntaxIndex one : access.keys) text.append(syntax_.text_of(one)).append("\n");
      if (!any) written = text;
      any = true;
      if (text != written || !key_of(function, access, accessor) || is_constant(accessor)) {
        followed = false;
        break;
      }
      key = accessor.key;
      if (access.kind == Access::read) ++reads;
      if (access.kind == Access::test) ++tests;
      if (access.kind != Access::get) continue;
      ++gets;
      const bool none =
          access.otherwise == no_syntax || syntax_.is(access.otherwise, SyntaxKind::none);
      if (!none) followed = false;
      const SyntaxIndex parent = syntax_[access.whole].parent;
      returned = parent != no_syntax && syntax_.is(parent, SyntaxKind::return_statement);
    }
    if (!any) return;
    // What it asks for may be brought in by the question.
    if (body.imports && reads + gets > 0) table.open = true;
    if (!followed || body.returns > 1) return;
    accessor.key = key;
    accessor.raises =
        reads + gets > 0 && (body.raises || (reads > 0 && gets == 0 && tests == 0 && !body.tries));
    accessor.gives_none = gets == 1 && reads == 0 && tests == 0 && !body.raises && returned;
    if (accessor.raises || accessor.gives_none) table.accessors.push_back(accessor);
  }

  // The first parameter of which a key is made.
  static int first_parameter(const PythonAccessor& accessor) {
    int first = std::numeric_limits<int>::max();
    for (const PythonTableKeyPart& part : accessor.key) {
      for (const PythonTableKeyPiece& piece : part.pieces) {
        if (piece.parameter >= 0) first = std::min(first, piece.parameter);
      }
    }
    return first;
  }

  // One function that stores by name in one table, and by class in another, leaves a way back
  // there, which may well lead to the last of several names.
  void keep_first_keys() {
    std::map<std::pair<std::string_view, std::string_view>, int> first;
    for (const PythonTable& table : tables_) {
      for (const PythonAccessor& accessor : table.accessors) {
        if (!accessor.stores) continue;
        const int own = first_parameter(accessor);
        const auto [known, is_new] = first.try_emplace({table.owner, accessor.name}, own);
        if (!is_new) known->second = std::min(known->second, own);
      }
    }
    for (PythonTable& table : tables_) {
      for (const PythonAccessor& accessor : table.accessors) {
        if (!accessor.stores) continue;
        if (first_parameter(accessor) > first[{table.owner, accessor.name}]) {
          table.second = PythonSecond::unknown;
        }
      }
    }
  }

  // `self.register(…)` within the class: entries of each object, or of some.
  void find_own_calls() {
    std::map<std::pair<std::string_view, std::string_view>, std::size_t> stores;
    for (std::size_t at = 0; at < tables_.size(); ++at) {
      if (tables_[at].owner.empty()) continue;
      for (const PythonAccessor& accessor : tables_[at].accessors) {
        if (accessor.stores) stores[{tables_[at].owner, accessor.name}] = at;
      }
    }
    if (stores.empty()) return;
    for (SyntaxIndex index = 0; index < syntax_.nodes.size(); ++index) {
      if (!syntax_.is(index, SyntaxKind::attribute)) continue;
      const SyntaxIndex object = syntax_.child(index, SyntaxField::object);
      const SyntaxIndex attribute = syntax_.child(index, SyntaxField::attribute);
      if (object == no_syntax || attribute == no_syntax) continue;
      const std::string_view head = syntax_.text_of(object);
      if (head != "self" && head != "cls") continue;
      const SyntaxIndex function = function_around(syntax_, index);
      if (function == no_syntax || class_of(function) == 0) continue;
      const std::string owner = name_of(class_of(function));
      const auto found = stores.find({owner, syntax_.text_of(attribute)});
      if (found != stores.end()) tables_[found->second].open = true;
    }
  }

  const PythonSyntax& syntax_;
  const PythonScopes& scopes_;
  PythonConstants constants_;
  std::vector<PythonTable> tables_;
  // By the class, or 0, and the name.
  std::map<std::pair<SyntaxIndex, std::string_view>, std::size_t> by_name_;
  std::set<std::string_view> names_;
  std::map<SyntaxIndex, Body> bodies_;
  std::map<std::pair<std::size_t, SyntaxIndex>, Doings> doings_;
};

}  // namespace

std::vector<PythonTable> find_python_tables(const ParsedPython& file) {
  return Definitions(file).run();
}

}  // namespace opseal
