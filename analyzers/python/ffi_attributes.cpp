#include "analyzers/python/ffi_attributes.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "analyzers/python/bound_call.h"

namespace opseal {

namespace {

// Scalars of numpy that XLA gets as what they are.
constexpr std::array<std::string_view, 11> numpy_scalars = {
    "int8",   "int16",  "int32",   "int64",   "uint8",  "uint16",
    "uint32", "uint64", "float16", "float32", "float64"};

bool is_scalar(std::string_view name) {
  return std::find(numpy_scalars.begin(), numpy_scalars.end(), name) != numpy_scalars.end();
}

// The name within numpy, empty for what isn't of it.
std::string numpy_name(const std::vector<std::string>& names) {
  if (names.size() != 1) return {};
  const std::string_view name = names.front();
  return std::string(name.starts_with("numpy.") ? name.substr(6) : std::string_view());
}

class AttributeType {
 public:
  AttributeType(const PythonSyntax& syntax, const PythonScopes& scopes, PythonConstants& constants)
      : syntax_(syntax), scopes_(scopes), constants_(constants) {}

  std::string of(SyntaxIndex expression) {
    const SyntaxIndex index = syntax_.unwrapped(expression);
    if (index == no_syntax) return {};
    if (syntax_.is(index, SyntaxKind::call)) return of_call(index);
    if (is_sequence(index)) return "sequence";
    const PythonConstant constant = constants_.of(index);
    switch (constant.kind) {
      case PythonConstant::Kind::text:
        return "string";
      case PythonConstant::Kind::truth:
        return "bool";
      case PythonConstant::Kind::number:
        return of_number(constant.text);
      default:
        return {};
    }
  }

 private:
  // A list or tuple of Python, which is no array.
  bool is_sequence(SyntaxIndex index) const {
    if (syntax_.is(index, SyntaxKind::list) || syntax_.is(index, SyntaxKind::tuple) ||
        syntax_.is(index, SyntaxKind::list_comprehension)) {
      return true;
    }
    const SyntaxIndex name = syntax_.is(index, SyntaxKind::attribute)
                                 ? syntax_.child(index, SyntaxField::attribute)
                                 : no_syntax;
    return name != no_syntax && syntax_.text_of(name) == "shape";
  }

  // As JAX makes attributes of plain numbers: 64 bits, whatever it does with arrays.
  static std::string of_number(std::string_view text) {
    if (text.starts_with("0x") || text.starts_with("0b")) return "int64";
    if (text.find_first_of("jJ") != text.npos) return {};
    return text.find_first_of(".eE") != text.npos ? "float64" : "int64";
  }

  std::string of_call(SyntaxIndex call) {
    const SyntaxIndex function = syntax_.child(call, SyntaxField::function);
    const SyntaxIndex arguments = syntax_.child(call, SyntaxField::arguments);
    if (function == no_syntax || !syntax_.is(arguments, SyntaxKind::argument_list)) return {};
    if (syntax_.is(function, SyntaxKind::identifier)) {
      const std::string_view name = syntax_.text_of(function);
      if (scopes_.only(name, function) != nullptr) return {};
      if (name == "int" || name == "len") return "int64";
      if (name == "float") return "float64";
      if (name == "bool") return "bool";
      if (name == "str") return "string";
      if (name == "list" || name == "tuple") return "sequence";
    }
    const std::string name = numpy_name(scopes_.full_names(function));
    if (is_scalar(name)) return name;
    if (name == "bool_") return "bool";
    const bool makes_array =
        name == "array" || name == "asarray" || name == "arange" || name == "zeros";
    if (!makes_array) return {};
    // `np.array([1, 2], dtype=np.int32)`.
    for (const BoundArgument& argument : bind_call(syntax_, arguments, "object dtype").arguments) {
      if (argument.keyword != "dtype") continue;
      const std::string dtype = numpy_name(scopes_.full_names(argument.value));
      if (is_scalar(dtype)) return "span<" + dtype + ">";
    }
    return {};
  }

  const PythonSyntax& syntax_;
  const PythonScopes& scopes_;
  PythonConstants& constants_;
};

// Nodes behind a look-up that are searched for the call of what it is kept in.
constexpr SyntaxIndex most_nodes = 4096;

// What one call hands over, `**attributes` of a dictionary that the same file writes out included.
class CallReader {
 public:
  CallReader(const PythonSyntax& syntax, const PythonScopes& scopes, PythonConstants& constants)
      : syntax_(syntax), scopes_(scopes), constants_(constants) {}

  PythonCall read(SyntaxIndex outer) {
    PythonCall made;
    const SyntaxIndex arguments = syntax_.child(outer, SyntaxField::arguments);
    if (!syntax_.is(arguments, SyntaxKind::argument_list)) return made;
    made.made = true;
    made.place = syntax_.place_of(outer);
    const BoundCall bound = bind_call(syntax_, arguments, "");
    for (const BoundArgument& argument : bound.arguments) {
      if (argument.keyword.empty()) {
        ++made.positional;
      } else {
        add(std::string(argument.keyword), argument.value, made);
      }
    }
    made.open_ended = bound.open_ended && !only_known_dictionaries(arguments, outer, made);
    return made;
  }

 private:
  // A call with more is none that a person wrote.
  static constexpr std::size_t most_arguments = 100;

  void add(std::string name, SyntaxIndex value, PythonCall& made) {
    const SyntaxNode& node = syntax_[value];
    made.attributes.push_back({std::move(name),
                               AttributeType(syntax_, scopes_, constants_).of(value),
                               {node.begin, node.end - node.begin}});
  }

  bool only_known_dictionaries(SyntaxIndex arguments, SyntaxIndex call, PythonCall& made) {
    std::size_t count = 0;
    for (SyntaxIndex at = arguments + 1; at < syntax_[arguments].next; at = syntax_[at].next) {
      if (++count > most_arguments || syntax_.is(at, SyntaxKind::list_splat)) return false;
      if (!syntax_.is(at, SyntaxKind::dictionary_splat)) continue;
      SyntaxIndex value = syntax_.unwrapped(syntax_.first(at));
      if (syntax_.is(value, SyntaxKind::identifier)) value = kept_in(value, call);
      if (!add_all(value, made)) return false;
    }
    return true;
  }

  // The dictionary that a name is bound to once, and that nothing changes before the call.
  SyntaxIndex kept_in(SyntaxIndex name, SyntaxIndex call) const {
    const std::string_view word = syntax_.text_of(name);
    const PythonBinding* binding = scopes_.only(word, name);
    if (binding == nullptr || binding->kind != PythonBinding::Kind::value) return no_syntax;
    const SyntaxIndex value = syntax_.unwrapped(binding->value);
    const SyntaxIndex end = syntax_[call].next;
    if (value > name || end - value > most_nodes) return no_syntax;
    for (SyntaxIndex at = syntax_[value].next; at < end; ++at) {
      if (!syntax_.is(at, SyntaxKind::identifier) || syntax_.text_of(at) != word) continue;
      if (!syntax_.is(syntax_[at].parent, SyntaxKind::dictionary_splat)) return no_syntax;
    }
    return value;
  }

  // `{"n": 1}` or `dict(n=1)`.
  bool add_all(SyntaxIndex value, PythonCall& made) {
    if (value == no_syntax) return false;
    if (syntax_.is(value, SyntaxKind::call)) {
      const SyntaxIndex called = syntax_.child(value, SyntaxField::function);
      const SyntaxIndex arguments = syntax_.child(value, SyntaxField::arguments);
      if (called == no_syntax || syntax_.text_of(called) != "dict") return false;
      if (!syntax_.is(arguments, SyntaxKind::argument_list)) return false;
      const BoundCall bound = bind_call(syntax_, arguments, "");
      if (bound.open_ended) return false;
      for (const BoundArgument& argument : bound.arguments) {
        if (argument.keyword.empty()) return false;
        add(std::string(argument.keyword), argument.value, made);
      }
      return true;
    }
    if (!syntax_.is(value, SyntaxKind::dictionary)) return false;
    std::size_t count = 0;
    for (SyntaxIndex at = value + 1; at < syntax_[value].next; at = syntax_[at].next) {
      if (!syntax_.is(at, SyntaxKind::pair) || ++count > most_arguments) return false;
      const PythonConstant key = constants_.of(syntax_.child(at, SyntaxField::key));
      const SyntaxIndex item = syntax_.child(at, SyntaxField::value);
      if (!key.is_text() || item == no_syntax) return false;
      add(key.text, item, made);
    }
    return true;
  }

  const PythonSyntax& syntax_;
  const PythonScopes& scopes_;
  PythonConstants& constants_;
};

// `f` of `f(x)` and of `jax.jit(f)(x)`.
SyntaxIndex called_name(const PythonSyntax& syntax, SyntaxIndex call) {
  const SyntaxIndex function = syntax.child(call, SyntaxField::function);
  if (function == no_syntax || syntax.is(function, SyntaxKind::identifier)) return function;
  if (!syntax.is(function, SyntaxKind::call)) return no_syntax;
  const SyntaxIndex wrapper = syntax.child(function, SyntaxField::function);
  const SyntaxIndex arguments = syntax.child(function, SyntaxField::arguments);
  if (wrapper == no_syntax || !syntax.text_of(wrapper).ends_with("jit")) return no_syntax;
  const SyntaxIndex first = arguments == no_syntax ? no_syntax : syntax.first(arguments);
  const bool alone = first != no_syntax && syntax[first].next == syntax[arguments].next;
  return alone && syntax.is(first, SyntaxKind::identifier) ? first : no_syntax;
}

// The one call of a name that is bound to the look-up alone.
SyntaxIndex call_of_name(const PythonSyntax& syntax, const PythonScopes& scopes, SyntaxIndex lookup,
                         std::string_view name) {
  SyntaxIndex found = no_syntax;
  const SyntaxIndex first = syntax[lookup].next;
  const auto end = static_cast<SyntaxIndex>(
      std::min<std::size_t>(syntax.nodes.size(), std::size_t{first} + most_nodes));
  for (SyntaxIndex at = first; at < end; ++at) {
    if (!syntax.is(at, SyntaxKind::call)) continue;
    const SyntaxIndex called = called_name(syntax, at);
    if (called == no_syntax || syntax.text_of(called) != name) continue;
    const PythonBinding* binding = scopes.only(name, called);
    const bool same = binding != nullptr && binding->kind == PythonBinding::Kind::value &&
                      syntax.unwrapped(binding->value) == lookup;
    if (!same) continue;
    // Some call with and some without an attribute.
    if (found != no_syntax) return no_syntax;
    found = at;
  }
  return found;
}

}  // namespace

PythonCall python_call_of(const PythonSyntax& syntax, const PythonScopes& scopes,
                          PythonConstants& constants, SyntaxIndex call) {
  const SyntaxIndex outer = syntax[call].parent;
  if (syntax.is(outer, SyntaxKind::call) && syntax.child(outer, SyntaxField::function) == call) {
    return CallReader(syntax, scopes, constants).read(outer);
  }
  if (!syntax.is(outer, SyntaxKind::assignment)) return {};
  const SyntaxIndex target = syntax.child(outer, SyntaxField::left);
  if (!syntax.is(target, SyntaxKind::identifier)) return {};
  const SyntaxIndex later = call_of_name(syntax, scopes, call, syntax.text_of(target));
  return later == no_syntax ? PythonCall() : CallReader(syntax, scopes, constants).read(later);
}

}  // namespace opseal
