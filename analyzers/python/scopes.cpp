#include "analyzers/python/scopes.h"

#include <algorithm>

namespace opseal {

namespace {

using Kind = PythonBinding::Kind;

bool is_scope(SyntaxKind kind) {
  switch (kind) {
    case SyntaxKind::class_definition:
    case SyntaxKind::dictionary_comprehension:
    case SyntaxKind::function_definition:
    case SyntaxKind::generator_expression:
    case SyntaxKind::lambda:
    case SyntaxKind::list_comprehension:
    case SyntaxKind::module:
    case SyntaxKind::set_comprehension:
      return true;
    default:
      return false;
  }
}

bool is_sequence(SyntaxKind kind) {
  return kind == SyntaxKind::expression_list || kind == SyntaxKind::tuple ||
         kind == SyntaxKind::list;
}

bool is_pattern(SyntaxKind kind) {
  return kind == SyntaxKind::pattern_list || kind == SyntaxKind::tuple_pattern ||
         kind == SyntaxKind::list_pattern;
}

std::string joined(std::string_view module, std::string_view name) {
  std::string path(module);
  if (!path.empty() && path.back() != '.') path += '.';
  return path.append(name);
}

}  // namespace

PythonScopes::PythonScopes(const PythonSyntax& syntax) : syntax_(syntax) {
  collect_globals();
  collect();
}

SyntaxIndex PythonScopes::scope_of(SyntaxIndex index) const {
  for (std::size_t depth = 0; depth < max_depth; ++depth) {
    index = syntax_[index].holder;
    if (index == no_syntax) return 0;
    if (is_scope(syntax_[index].kind)) return index;
  }
  return no_syntax;
}

bool PythonScopes::within(SyntaxIndex index, SyntaxIndex holder) const {
  return index > holder && index < syntax_[holder].next;
}

void PythonScopes::collect_globals() {
  for (SyntaxIndex index = 0; index < syntax_.nodes.size(); ++index) {
    if (!syntax_.is(index, SyntaxKind::global_statement)) continue;
    const SyntaxIndex scope = scope_of(index);
    for (const SyntaxIndex name : syntax_.children(index)) {
      globals_[{scope, syntax_.text_of(name)}] = true;
    }
  }
}

void PythonScopes::collect() {
  for (SyntaxIndex index = 0; index < syntax_.nodes.size(); ++index) {
    switch (syntax_[index].kind) {
      case SyntaxKind::assignment:
        bind_assignment(index);
        break;
      case SyntaxKind::augmented_assignment:
        bind_target(syntax_.child(index, SyntaxField::left), Kind::other, no_syntax);
        break;
      case SyntaxKind::named_expression:
        bind_target(syntax_.child(index, SyntaxField::name), Kind::value,
                    syntax_.child(index, SyntaxField::value));
        break;
      case SyntaxKind::for_statement:
      case SyntaxKind::for_in_clause:
        bind_target(syntax_.child(index, SyntaxField::left), Kind::loop, index);
        break;
      case SyntaxKind::function_definition:
      case SyntaxKind::class_definition:
        bind_in(scope_of(index), syntax_.child(index, SyntaxField::name), Kind::definition, index);
        break;
      case SyntaxKind::parameters:
      case SyntaxKind::lambda_parameters:
        bind_parameters(index);
        break;
      case SyntaxKind::import_statement:
        bind_import(index);
        break;
      case SyntaxKind::import_from_statement:
        bind_import_from(index);
        break;
      case SyntaxKind::as_pattern_target: {
        const SyntaxIndex pattern = syntax_[index].parent;
        const bool context = syntax_.is(syntax_[pattern].parent, SyntaxKind::with_item);
        if (syntax_.first(index) == no_syntax) break;
        bind_target(syntax_.first(index), context ? Kind::context : Kind::other,
                    context ? syntax_.first(pattern) : no_syntax);
        break;
      }
      case SyntaxKind::delete_statement:
        if (syntax_.first(index) == no_syntax) break;
        bind_target(syntax_.first(index), Kind::other, no_syntax);
        break;
      default:
        break;
    }
  }
}

void PythonScopes::bind(SyntaxIndex name, Kind kind, SyntaxIndex value, std::string path) {
  SyntaxIndex scope = scope_of(name);
  const std::string_view text = syntax_.text_of(name);
  if (globals_.contains({scope, text})) scope = 0;
  add(bindings_[{scope, text}], {kind, name, value, std::move(path)});
}

// One more than are looked at says that there are too many.
void PythonScopes::add(Bindings& bindings, PythonBinding binding) {
  if (bindings.size() <= max_bindings) bindings.push_back(std::move(binding));
}

void PythonScopes::bind_in(SyntaxIndex scope, SyntaxIndex name, Kind kind, SyntaxIndex value) {
  if (name == no_syntax) return;
  add(bindings_[{scope, syntax_.text_of(name)}], {kind, name, value, {}});
}

void PythonScopes::bind_target(SyntaxIndex target, Kind kind, SyntaxIndex value) {
  if (target == no_syntax) return;
  const SyntaxKind shape = syntax_[target].kind;
  if (shape == SyntaxKind::identifier) {
    bind(target, kind, value);
    return;
  }
  if (shape == SyntaxKind::attribute) {
    assigned_[syntax_.text_of(target)].push_back(kind == Kind::value ? value : no_syntax);
    return;
  }
  if (shape == SyntaxKind::subscript) return;
  // A pattern, however nested: each of its identifiers.
  for (SyntaxIndex inner = target + 1; inner < syntax_[target].next; ++inner) {
    if (!syntax_.is(inner, SyntaxKind::identifier)) continue;
    const SyntaxKind parent = syntax_[syntax_[inner].parent].kind;
    if (!is_pattern(parent) && !is_sequence(parent) && parent != SyntaxKind::list_splat_pattern) {
      continue;
    }
    bind(inner, kind == Kind::loop ? Kind::loop : Kind::other, value);
  }
}

void PythonScopes::bind_assignment(SyntaxIndex assignment) {
  const SyntaxIndex target = syntax_.child(assignment, SyntaxField::left);
  SyntaxIndex value = syntax_.child(assignment, SyntaxField::right);
  // `a = b = x`; a text of nothing but those is bound to be undecided behind some.
  for (std::size_t links = 0; syntax_.is(value, SyntaxKind::assignment); ++links) {
    value = links < max_depth ? syntax_.child(value, SyntaxField::right) : no_syntax;
  }
  // `x: int` says nothing of a value.
  if (target == no_syntax || value == no_syntax) return;
  if (is_pattern(syntax_[target].kind) && is_sequence(syntax_[value].kind)) {
    const std::vector<SyntaxIndex> targets = syntax_.children(target);
    const std::vector<SyntaxIndex> values = syntax_.children(value);
    const auto splat = [&](SyntaxIndex index) {
      return syntax_.is(index, SyntaxKind::list_splat) ||
             syntax_.is(index, SyntaxKind::list_splat_pattern);
    };
    if (targets.size() == values.size() && std::none_of(targets.begin(), targets.end(), splat) &&
        std::none_of(values.begin(), values.end(), splat)) {
      for (std::size_t i = 0; i < targets.size(); ++i) {
        bind_target(targets[i], Kind::value, values[i]);
      }
      return;
    }
  }
  bind_target(target, Kind::value, value);
}

void PythonScopes::bind_parameters(SyntaxIndex parameters) {
  const SyntaxIndex scope = syntax_[parameters].parent;
  for (const SyntaxIndex parameter : syntax_.children(parameters)) {
    SyntaxIndex name = parameter;
    if (!syntax_.is(parameter, SyntaxKind::identifier)) {
      name = syntax_.child(parameter, SyntaxField::name);
      if (name == no_syntax) name = syntax_.first(parameter);
      if (name != no_syntax && !syntax_.is(name, SyntaxKind::identifier)) {
        name = syntax_.first(name);
      }
    }
    if (syntax_.is(name, SyntaxKind::identifier)) bind_in(scope, name, Kind::parameter, parameter);
  }
}

void PythonScopes::bind_import(SyntaxIndex statement) {
  for (const SyntaxIndex name : syntax_.children(statement)) {
    if (syntax_.is(name, SyntaxKind::aliased_import)) {
      const SyntaxIndex alias = syntax_.child(name, SyntaxField::alias);
      const SyntaxIndex module = syntax_.child(name, SyntaxField::name);
      if (alias == no_syntax || module == no_syntax) continue;
      bind(alias, Kind::import, no_syntax, std::string(syntax_.text_of(module)));
    } else if (syntax_.is(name, SyntaxKind::dotted_name) && syntax_.first(name) != no_syntax) {
      // `import a.b` binds `a`.
      const SyntaxIndex top = syntax_.first(name);
      bind(top, Kind::import, no_syntax, std::string(syntax_.text_of(top)));
    }
  }
}

void PythonScopes::bind_import_from(SyntaxIndex statement) {
  const SyntaxIndex module = syntax_.child(statement, SyntaxField::module_name);
  if (module == no_syntax) return;
  const std::string_view from = syntax_.text_of(module);
  for (const SyntaxIndex name : syntax_.children(statement)) {
    if (name == module) continue;
    if (syntax_.is(name, SyntaxKind::wildcard_import)) {
      starred_.emplace_back(from);
    } else if (syntax_.is(name, SyntaxKind::aliased_import)) {
      const SyntaxIndex alias = syntax_.child(name, SyntaxField::alias);
      const SyntaxIndex original = syntax_.child(name, SyntaxField::name);
      if (alias == no_syntax || original == no_syntax) continue;
      bind(alias, Kind::import, no_syntax, joined(from, syntax_.text_of(original)));
    } else if (syntax_.is(name, SyntaxKind::dotted_name)) {
      bind(name, Kind::import, no_syntax, joined(from, syntax_.text_of(name)));
    }
  }
}

const std::vector<PythonBinding>& PythonScopes::find(std::string_view name,
                                                     SyntaxIndex from) const {
  static const Bindings nothing;
  SyntaxIndex scope = scope_of(from);
  for (std::size_t depth = 0; depth < max_scopes && scope != no_syntax; ++depth) {
    // Names of a class are seen by its own statements only.
    const bool visible = depth == 0 || !syntax_.is(scope, SyntaxKind::class_definition);
    if (visible) {
      const auto found = bindings_.find({scope, name});
      if (found != bindings_.end()) return found->second;
    }
    if (scope == 0) break;
    scope = scope_of(scope);
  }
  return nothing;
}

const PythonBinding* PythonScopes::only(std::string_view name, SyntaxIndex from) const {
  const Bindings& found = find(name, from);
  if (found.size() > max_bindings) return nullptr;
  const PythonBinding* around = nullptr;
  for (const PythonBinding& binding : found) {
    if (binding.kind != Kind::loop) continue;
    // A comprehension's clause stands beside what it repeats.
    const SyntaxIndex loop = syntax_.is(binding.value, SyntaxKind::for_in_clause)
                                 ? syntax_[binding.value].parent
                                 : binding.value;
    if (within(from, loop)) around = &binding;
  }
  if (around == nullptr) return found.size() == 1 ? &found.front() : nullptr;
  // Something else within the loop gives the name another meaning.
  for (const PythonBinding& binding : found) {
    if (&binding != around && within(binding.name, around->value)) return nullptr;
  }
  return around;
}

const std::vector<SyntaxIndex>& PythonScopes::assigned(std::string_view attribute) const {
  static const std::vector<SyntaxIndex> nothing;
  const auto found = assigned_.find(attribute);
  return found == assigned_.end() ? nothing : found->second;
}

std::vector<std::string> PythonScopes::names_of(std::string_view name, SyntaxIndex from,
                                                std::size_t depth) const {
  std::vector<std::string> names;
  const auto add = [&](const std::string& full) {
    if (names.size() < max_meanings && std::find(names.begin(), names.end(), full) == names.end()) {
      names.push_back(full);
    }
  };
  const Bindings& found = find(name, from);
  // A name with many meanings has none that is worth following.
  const bool few = found.size() <= max_meanings;
  for (const PythonBinding& binding : found) {
    if (names.size() == max_meanings) break;
    if (binding.kind == Kind::import) {
      add(binding.path);
    } else if (binding.kind == Kind::value && few && depth > 0 && binding.value != no_syntax) {
      for (const std::string& full : full_names_below(binding.value, depth - 1)) add(full);
    }
  }
  if (found.empty()) {
    for (const std::string& module : starred_) add(joined(module, name));
  }
  if (names.empty()) names.emplace_back(name);
  return names;
}

std::vector<std::string> PythonScopes::full_names(SyntaxIndex expression) const {
  return full_names_below(expression, 3);
}

std::vector<std::string> PythonScopes::full_names_below(SyntaxIndex expression,
                                                        std::size_t depth) const {
  // Of `a.b.c` the parts behind `a`, which are few in any real name.
  constexpr std::size_t max_parts = 12;
  std::vector<std::string_view> parts;
  SyntaxIndex index = syntax_.unwrapped(expression);
  while (syntax_.is(index, SyntaxKind::attribute)) {
    const SyntaxIndex name = syntax_.child(index, SyntaxField::attribute);
    if (name == no_syntax || parts.size() == max_parts) return {};
    parts.push_back(syntax_.text_of(name));
    index = syntax_.child(index, SyntaxField::object);
  }
  if (!syntax_.is(index, SyntaxKind::identifier)) return {};
  std::vector<std::string> names = names_of(syntax_.text_of(index), index, depth);
  for (std::string& name : names) {
    for (std::size_t i = parts.size(); i > 0; --i) name.append(".").append(parts[i - 1]);
  }
  return names;
}

}  // namespace opseal
