#include <algorithm>
#include <set>
#include <utility>

#include "analyzers/python/conditions.h"
#include "analyzers/python/constants.h"
#include "analyzers/python/loop_rounds.h"
#include "analyzers/python/scopes.h"
#include "analyzers/python/syntax.h"
#include "analyzers/python/table_access.h"
#include "analyzers/python/table_keys.h"
#include "analyzers/python/tables.h"

namespace opseal {

namespace {

using Access = PythonTableAccess::Kind;
using Binding = PythonBinding::Kind;
using NameKind = PythonTableName::Kind;
using UseKind = PythonTableUse::Kind;

constexpr std::size_t most_uses = 20000;

std::string_view without_init(std::string_view module) {
  constexpr std::string_view init = ".__init__";
  return module.ends_with(init) ? module.substr(0, module.size() - init.size()) : module;
}

// `a.b` is the end of `x.a.b`, at a dot.
bool is_end_of(std::string_view end, std::string_view whole) {
  if (end.size() > whole.size() || !whole.ends_with(end)) return false;
  return end.size() == whole.size() || whole[whole.size() - end.size() - 1] == '.';
}

class Uses {
 public:
  Uses(std::string_view text, std::uint32_t file, std::string_view module,
       const std::vector<PythonTableName>& names, const std::vector<PythonTable>& tables)
      : syntax_(text),
        scopes_(syntax_),
        constants_(syntax_, scopes_),
        rounds_(syntax_, constants_),
        file_(file),
        module_(module),
        names_(names),
        tables_(tables) {}

  std::vector<PythonTableUse> run() {
    for (SyntaxIndex index = 0; index < syntax_.nodes.size(); ++index) {
      if (uses_.size() >= most_uses) break;
      if (syntax_.is(index, SyntaxKind::identifier)) look_at(index);
      if (syntax_.is(index, SyntaxKind::wildcard_import)) starred_ = true;
    }
    if (syntax_.first_error != no_syntax || uses_.size() >= most_uses) {
      for (const std::uint32_t name : met_) add_unknown(name);
    }
    return std::move(uses_);
  }

 private:
  // Those of a name, as a range of indices.
  std::pair<std::uint32_t, std::uint32_t> range(std::string_view name) const {
    const auto first = std::lower_bound(
        names_.begin(), names_.end(), name,
        [](const PythonTableName& one, std::string_view text) { return one.name < text; });
    auto last = first;
    while (last != names_.end() && last->name == name) ++last;
    return {static_cast<std::uint32_t>(first - names_.begin()),
            static_cast<std::uint32_t>(last - names_.begin())};
  }

  bool is_expression(SyntaxIndex index) const {
    const SyntaxIndex parent = syntax_[index].parent;
    if (parent == no_syntax || syntax_[index].field == SyntaxField::attribute) return false;
    const SyntaxField field = syntax_[index].field;
    switch (syntax_[parent].kind) {
      case SyntaxKind::keyword_argument:
        return field != SyntaxField::name;
      case SyntaxKind::function_definition:
      case SyntaxKind::class_definition:
      case SyntaxKind::dotted_name:
      case SyntaxKind::aliased_import:
      case SyntaxKind::import_from_statement:
      case SyntaxKind::import_statement:
      case SyntaxKind::global_statement:
      case SyntaxKind::parameters:
      case SyntaxKind::lambda_parameters:
        return false;
      default:
        return true;
    }
  }

  bool is_of_module(const PythonBinding& binding) const {
    // The name of a definition stands within it.
    const bool is_definition = binding.kind == Binding::definition;
    return scopes_.scope_of(is_definition ? binding.value : binding.name) == 0;
  }

  // The full name of what an identifier stands for; empty for something of its function.
  std::string full_name(SyntaxIndex index, bool& ambiguous) const {
    const std::string_view text = syntax_.text_of(index);
    const std::vector<PythonBinding>& found = scopes_.find(text, index);
    if (found.empty()) return starred_ ? "." + std::string(text) : std::string();
    if (found.size() > 1) {
      // A fallback for an import that failed, and the like.
      ambiguous = std::any_of(found.begin(), found.end(), [this](const PythonBinding& binding) {
        return binding.kind == Binding::import || is_of_module(binding);
      });
      return {};
    }
    const PythonBinding& binding = found.front();
    if (binding.kind == Binding::import) return binding.path;
    const bool stays = binding.kind == Binding::value || binding.kind == Binding::definition;
    if (!stays || !is_of_module(binding)) return {};
    return std::string(module_) + "." + std::string(text);
  }

  // Relative imports made absolute.
  std::string absolute(std::string_view path) const {
    std::size_t dots = 0;
    while (dots < path.size() && path[dots] == '.') ++dots;
    if (dots == 0) return std::string(path);
    std::string_view base = module_;
    for (std::size_t i = 0; i < dots; ++i) {
      const std::size_t dot = base.rfind('.');
      base = dot == base.npos ? std::string_view() : base.substr(0, dot);
    }
    std::string full(base);
    if (!full.empty() && dots < path.size()) full += '.';
    return full.append(path.substr(dots));
  }

  void look_at(SyntaxIndex index) {
    if (!is_expression(index)) return;
    bool ambiguous = false;
    std::string path = full_name(index, ambiguous);
    if (ambiguous) {
      const auto [first, last] = range(syntax_.text_of(index));
      for (std::uint32_t name = first; name < last; ++name) add_unknown(name);
      return;
    }
    if (path.empty()) return;
    const bool starred = starred_ && path == "." + std::string(syntax_.text_of(index));
    path = absolute(path);
    SyntaxIndex node = index;
    for (std::size_t parts = 0; parts < 8; ++parts) {
      if (look_at_path(path, node, starred)) return;
      const SyntaxIndex parent = syntax_[node].parent;
      const bool goes_on = parent != no_syntax && syntax_.is(parent, SyntaxKind::attribute) &&
                           syntax_[node].field == SyntaxField::object;
      const SyntaxIndex name = goes_on ? syntax_.child(parent, SyntaxField::attribute) : no_syntax;
      if (name == no_syntax) return;
      path.append(".").append(syntax_.text_of(name));
      node = parent;
    }
  }

  bool look_at_path(std::string_view path, SyntaxIndex node, bool starred) {
    const std::size_t dot = path.rfind('.');
    const std::string_view module = dot == path.npos ? std::string_view() : path.substr(0, dot);
    const std::string_view name = last_name(path);
    const auto [first, last] = range(name);
    if (first == last) return false;
    std::vector<std::uint32_t> fitting;
    for (std::uint32_t one = first; one < last; ++one) {
      const std::string_view own = without_init(names_[one].module);
      const bool here = names_[one].file == file_ && module == module_;
      const bool fits = here || starred ||
                        (module != module_ && !module.empty() &&
                         (is_end_of(without_init(module), own) || is_end_of(own, module)));
      if (fits) fitting.push_back(one);
    }
    if (fitting.empty()) {
      // Handed on by a package: `from pkg import REG`.
      const std::string_view package = last_name(without_init(module));
      for (std::uint32_t one = first; one < last; ++one) {
        if (package.empty() || module == module_) continue;
        const std::string dotted = "." + names_[one].module + ".";
        if (dotted.find("." + std::string(package) + ".") != dotted.npos) fitting.push_back(one);
      }
    }
    if (fitting.empty()) return false;
    // Two tables of one function, or one file's, are no doubt.
    const std::uint32_t file = names_[fitting.front()].file;
    const bool doubt = std::any_of(fitting.begin(), fitting.end(),
                                   [&](std::uint32_t one) { return names_[one].file != file; });
    for (const std::uint32_t one : fitting) {
      met_.insert(one);
      if (doubt) {
        add_unknown(one);
      } else {
        use(one, node);
      }
    }
    return true;
  }

  void add_unknown(std::uint32_t name) {
    if (!unknown_.insert(name).second) return;
    PythonTableUse use;
    use.name = name;
    uses_.push_back(std::move(use));
  }

  bool is_own_file(std::uint32_t name) const { return names_[name].file == file_; }

  void use(std::uint32_t name, SyntaxIndex node) {
    const PythonTable& table = tables_[names_[name].table];
    switch (names_[name].kind) {
      case NameKind::table:
        use_table(name, node);
        return;
      case NameKind::function:
        use_accessors(name, table,
                      names_[name].member.empty() ? names_[name].name : names_[name].member, node);
        return;
      case NameKind::object:
        use_object(name, table, node);
        return;
    }
  }

  void use_object(std::uint32_t name, const PythonTable& table, SyntaxIndex node) {
    const SyntaxIndex parent = syntax_[node].parent;
    if (parent == no_syntax) return;
    const SyntaxField field = syntax_[node].field;
    if (syntax_.is(parent, SyntaxKind::attribute) && field == SyntaxField::object) {
      const SyntaxIndex member = syntax_.child(parent, SyntaxField::attribute);
      if (member == no_syntax) return;
      const std::string_view text = syntax_.text_of(member);
      if (text == table.name) {
        if (!is_own_file(name)) use_table(name, parent);
        return;
      }
      use_accessors(name, table, text, parent);
      return;
    }
    const bool is_class = names_[name].name == table.owner;
    const bool is_called = syntax_.is(parent, SyntaxKind::call) && field == SyntaxField::function;
    if (is_called && !is_class) {
      use_accessors(name, table, "__call__", node);
      return;
    }
    if (syntax_.is(parent, SyntaxKind::subscript) && field == SyntaxField::value) {
      const SyntaxIndex key = syntax_.child(parent, SyntaxField::subscript);
      const auto has = [](const PythonAccessor& one) { return one.name == "__getitem__"; };
      const auto found = std::find_if(table.accessors.begin(), table.accessors.end(), has);
      const SyntaxIndex above = syntax_[parent].parent;
      const bool is_left = syntax_[parent].field == SyntaxField::left && above != no_syntax &&
                           syntax_.is(above, SyntaxKind::assignment);
      if (found == table.accessors.end() || is_left || key == no_syntax) {
        add_unknown(name);
      } else {
        add_direct(name, UseKind::lookup, {key}, parent, {});
      }
      return;
    }
    if (syntax_.is(parent, SyntaxKind::assignment) && field == SyntaxField::left &&
        is_own_file(name)) {
      return;
    }
    // An object of a class whose table all of them share.
    if (is_called && is_class && syntax_.is(syntax_[parent].parent, SyntaxKind::assignment) &&
        scopes_.scope_of(parent) == 0) {
      return;
    }
    const SyntaxKind kind = syntax_[parent].kind;
    if (kind == SyntaxKind::expression_statement || kind == SyntaxKind::interpolation ||
        kind == SyntaxKind::for_in_clause || kind == SyntaxKind::for_statement ||
        kind == SyntaxKind::type) {
      return;
    }
    // `key in REG`
    if (python_table_access(syntax_, node).kind == Access::test) return;
    add_unknown(name);
  }

  void use_table(std::uint32_t name, SyntaxIndex node) {
    const PythonTableAccess access = python_table_access(syntax_, node);
    const SyntaxIndex function = function_around(syntax_, node);
    switch (access.kind) {
      case Access::whole:
        if (!is_own_file(name)) add_unknown(name);
        return;
      case Access::harmless:
      case Access::test:
        return;
      case Access::unknown:
        add_unknown(name);
        return;
      case Access::store:
      case Access::keep:
      case Access::append: {
        if (is_new_container(syntax_, access.value)) return;
        // What its own functions store is read with them.
        const bool read_with = is_own_file(name) && function != no_syntax;
        std::string value;
        const SyntaxIndex stored = syntax_.unwrapped(access.value);
        if (stored != no_syntax && (syntax_.is(stored, SyntaxKind::identifier) ||
                                    syntax_.is(stored, SyntaxKind::attribute))) {
          value = syntax_.text_of(stored).substr(0, 256);
        }
        add_direct(name, UseKind::store, access.keys, access.whole, value, read_with);
        return;
      }
      case Access::read:
        add_direct(name, UseKind::lookup, access.keys, access.whole, {});
        return;
      case Access::get: {
        // `T.get(k)(x)`; else somebody may ask whether it is there.
        const SyntaxIndex parent = syntax_[access.whole].parent;
        const bool called = access.otherwise == no_syntax && parent != no_syntax &&
                            syntax_.is(parent, SyntaxKind::call) &&
                            syntax_[access.whole].field == SyntaxField::function;
        if (called) add_direct(name, UseKind::lookup, access.keys, access.whole, {});
        return;
      }
    }
  }

  void add_direct(std::uint32_t name, UseKind kind, const std::vector<SyntaxIndex>& keys,
                  SyntaxIndex node, const std::string& value, bool read_with = false) {
    if (kind == UseKind::lookup && is_prepared_for_miss(syntax_, node, names_[name].name)) return;
    const auto make = [&] {
      PythonTableUse use;
      use.name = name;
      use.kind = kind;
      for (const SyntaxIndex key : keys) {
        for (PythonKeyValue& part : python_key(syntax_, scopes_, constants_, key)) {
          use.entry.key.push_back(std::move(part));
        }
      }
      use.entry.value = value;
      return use;
    };
    add(make, node, read_with);
  }

  template <typename Make>
  void add(const Make& make, SyntaxIndex node, bool read_with = false) {
    for (PythonTableUse& use : rounds_.all<PythonTableUse>(make)) {
      if (uses_.size() >= most_uses) return;
      if (!is_decided(use.entry.key)) {
        use.entry.key.clear();
        if (use.kind == UseKind::store && !read_with) add_unknown(use.name);
        continue;
      }
      use.entry.place = syntax_.place_of(node);
      use.entry.conditions = python_conditions(syntax_, node);
      use.entry.within = python_within(syntax_, node);
      uses_.push_back(std::move(use));
    }
  }

  // `node`: what is called, or a decorator's expression.
  void use_accessors(std::uint32_t name, const PythonTable& table, std::string_view member,
                     SyntaxIndex node) {
    const SyntaxIndex parent = syntax_[node].parent;
    bool stores = false;
    for (const PythonAccessor& accessor : table.accessors) {
      if (accessor.name != member) continue;
      stores = stores || accessor.stores;
      const bool is_called =
          syntax_.is(parent, SyntaxKind::call) && syntax_[node].field == SyntaxField::function;
      if (is_called) {
        call(name, accessor, parent);
      } else if (accessor.stores && syntax_.is(parent, SyntaxKind::decorator)) {
        decorate(name, accessor, node);
      } else if (accessor.stores && !is_alias(parent, node) && !is_target(parent, node)) {
        // Handed over.
        add_unknown(name);
      }
    }
  }

  bool is_target(SyntaxIndex parent, SyntaxIndex node) const {
    return syntax_.is(parent, SyntaxKind::assignment) && syntax_[node].field == SyntaxField::left;
  }

  // `register = REG.register`, which is a name of its own.
  bool is_alias(SyntaxIndex parent, SyntaxIndex node) const {
    if (!syntax_.is(parent, SyntaxKind::assignment) || is_target(parent, node)) return false;
    const SyntaxIndex left = syntax_.child(parent, SyntaxField::left);
    if (left == no_syntax) return false;
    const auto [first, last] = range(syntax_.text_of(left));
    for (std::uint32_t one = first; one < last; ++one) {
      if (names_[one].file == file_ && !names_[one].member.empty()) return true;
    }
    return false;
  }

  std::string decorated_name(SyntaxIndex expression) const {
    const SyntaxIndex parent = syntax_[expression].parent;
    if (parent == no_syntax) return {};
    if (syntax_.is(parent, SyntaxKind::decorator)) {
      const SyntaxIndex definition = syntax_.child(syntax_[parent].parent, SyntaxField::definition);
      const SyntaxIndex name =
          definition == no_syntax ? no_syntax : syntax_.child(definition, SyntaxField::name);
      return name == no_syntax ? std::string() : std::string(syntax_.text_of(name));
    }
    if (syntax_.is(parent, SyntaxKind::call) &&
        syntax_[expression].field == SyntaxField::function) {
      const SyntaxIndex list = syntax_.child(parent, SyntaxField::arguments);
      const SyntaxIndex first = list == no_syntax ? no_syntax : syntax_.first(list);
      return first == no_syntax ? std::string() : name_of_thing(first);
    }
    return {};
  }

  std::string name_of_thing(SyntaxIndex expression) const {
    expression = syntax_.unwrapped(expression);
    const bool is_name = syntax_.is(expression, SyntaxKind::identifier) ||
                         syntax_.is(expression, SyntaxKind::attribute);
    return is_name ? std::string(last_name(syntax_.text_of(expression))) : std::string();
  }

  // Arguments by the position of the parameter; false where there are others than those.
  bool arguments_of(const PythonAccessor& accessor, SyntaxIndex list,
                    std::vector<SyntaxIndex>& arguments) const {
    arguments.assign(accessor.parameters.size(), no_syntax);
    if (list == no_syntax || !syntax_.is(list, SyntaxKind::argument_list)) return false;
    std::size_t position = 0;
    for (SyntaxIndex index = list + 1; index < syntax_[list].next; index = syntax_[index].next) {
      if (syntax_.is(index, SyntaxKind::keyword_argument)) {
        const SyntaxIndex name = syntax_.child(index, SyntaxField::name);
        const SyntaxIndex value = syntax_.child(index, SyntaxField::value);
        if (name == no_syntax || value == no_syntax) return false;
        const auto found =
            std::find_if(accessor.parameters.begin(), accessor.parameters.end(),
                         [&](const auto& one) { return one.name == syntax_.text_of(name); });
        if (found == accessor.parameters.end()) return false;
        arguments[static_cast<std::size_t>(found - accessor.parameters.begin())] = value;
        continue;
      }
      if (syntax_.is(index, SyntaxKind::list_splat) ||
          syntax_.is(index, SyntaxKind::dictionary_splat) || position >= arguments.size()) {
        return false;
      }
      arguments[position++] = index;
    }
    return true;
  }

  PythonKeyValue part_of(const PythonAccessor& accessor, const PythonTableKeyPart& part,
                         const std::vector<SyntaxIndex>& arguments, const std::string& decorated) {
    if (part.constant.decided()) return part.constant;
    PythonKeyValue whole;
    for (const PythonTableKeyPiece& piece : part.pieces) {
      PythonKeyValue one{"t", piece.text};
      if (piece.decorated) {
        one.text = decorated;
        if (decorated.empty()) return {};
      } else if (piece.parameter >= 0) {
        const auto at = static_cast<std::size_t>(piece.parameter);
        if (piece.name_of) {
          one.text = arguments[at] == no_syntax ? decorated : name_of_thing(arguments[at]);
          if (one.text.empty()) return {};
        } else if (arguments[at] != no_syntax) {
          one = python_key_value(syntax_, scopes_, constants_, arguments[at]);
        } else if (accessor.parameters[at].has_default) {
          one = accessor.parameters[at].standard;
        } else {
          return {};
        }
      }
      if (!one.decided()) return {};
      if (part.pieces.size() == 1) return one;
      // Parts of a text that are no texts may be written in many ways.
      if (one.kind != "t" && one.kind != "n") return {};
      whole.kind = "t";
      whole.text += one.text;
    }
    return whole;
  }

  void call(std::uint32_t name, const PythonAccessor& accessor, SyntaxIndex call) {
    if (!accessor.stores) {
      if (is_prepared_for_miss(syntax_, call, names_[name].name)) return;
      const bool is_called = syntax_.is(syntax_[call].parent, SyntaxKind::call) &&
                             syntax_[call].field == SyntaxField::function;
      if (!accessor.raises && !is_called) return;
    }
    const SyntaxIndex list = syntax_.child(call, SyntaxField::arguments);
    std::vector<SyntaxIndex> arguments;
    const bool known = arguments_of(accessor, list, arguments);
    const std::string decorated = decorated_name(call);
    std::string value = decorated;
    for (const SyntaxIndex argument : arguments) {
      const std::string thing = argument == no_syntax ? std::string() : name_of_thing(argument);
      if (value.empty() && !thing.empty()) value = thing;
    }
    add_use(name, accessor, known, arguments, decorated, value, call);
  }

  // `@register` alone, where the function itself is handed over.
  void decorate(std::uint32_t name, const PythonAccessor& accessor, SyntaxIndex node) {
    const std::vector<SyntaxIndex> arguments(accessor.parameters.size(), no_syntax);
    const std::string decorated = decorated_name(node);
    add_use(name, accessor, true, arguments, decorated, decorated, node);
  }

  void add_use(std::uint32_t name, const PythonAccessor& accessor, bool known,
               const std::vector<SyntaxIndex>& arguments, const std::string& decorated,
               const std::string& value, SyntaxIndex node) {
    const auto make = [&] {
      PythonTableUse use;
      use.name = name;
      use.kind = accessor.stores ? UseKind::store : UseKind::lookup;
      use.entry.value = value;
      if (!known) return use;
      for (const PythonTableKeyPart& part : accessor.key) {
        PythonKeyValue one = part_of(accessor, part, arguments, decorated);
        if (accessor.key.size() == 1 && one.kind.starts_with('(')) {
          // A tuple that is handed over whole.
          const SyntaxIndex written =
              arguments[static_cast<std::size_t>(std::max(0, part.pieces.front().parameter))];
          if (written != no_syntax) {
            use.entry.key = python_key(syntax_, scopes_, constants_, written);
            return use;
          }
        }
        use.entry.key.push_back(std::move(one));
      }
      return use;
    };
    if (stores_nothing(accessor, arguments)) return;
    add(make, node);
  }

  // `alias=None`: who says none stores nothing under it.
  static bool stores_nothing(const PythonAccessor& accessor,
                             const std::vector<SyntaxIndex>& arguments) {
    if (!accessor.stores || arguments.size() != accessor.parameters.size()) return false;
    for (const PythonTableKeyPart& part : accessor.key) {
      for (const PythonTableKeyPiece& piece : part.pieces) {
        if (piece.parameter < 0 || piece.name_of) continue;
        const auto at = static_cast<std::size_t>(piece.parameter);
        if (arguments[at] == no_syntax && accessor.parameters[at].standard.kind == "0") return true;
      }
    }
    return false;
  }

  PythonSyntax syntax_;
  PythonScopes scopes_;
  PythonConstants constants_;
  PythonLoopRounds rounds_;
  std::uint32_t file_;
  std::string_view module_;
  const std::vector<PythonTableName>& names_;
  const std::vector<PythonTable>& tables_;
  std::vector<PythonTableUse> uses_;
  std::set<std::uint32_t> met_;
  std::set<std::uint32_t> unknown_;
  bool starred_ = false;
};

}  // namespace

std::vector<PythonTableUse> find_python_table_uses(std::string_view text, std::uint32_t file,
                                                   std::string_view module,
                                                   const std::vector<PythonTableName>& names,
                                                   const std::vector<PythonTable>& tables) {
  return Uses(text, file, module, names, tables).run();
}

}  // namespace opseal
