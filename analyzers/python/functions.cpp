#include "analyzers/python/functions.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace opseal {

namespace {

// Texts of a source that are kept; what is longer is cut.
std::string excerpt(const PythonSyntax& syntax, SyntaxIndex index) {
  return std::string(syntax.text_of(index).substr(0, 256));
}

void add_parameter(const PythonSyntax& syntax, SyntaxIndex index, bool keyword_only,
                   PythonFunction& function) {
  PythonParameter parameter;
  parameter.keyword_only = keyword_only;
  SyntaxIndex name = index;
  if (!syntax.is(index, SyntaxKind::identifier)) {
    name = syntax.child(index, SyntaxField::name);
    if (name == no_syntax) name = syntax.first(index);
    const SyntaxIndex annotation = syntax.child(index, SyntaxField::type);
    const SyntaxIndex standard = syntax.child(index, SyntaxField::value);
    if (annotation != no_syntax) parameter.annotation = excerpt(syntax, annotation);
    if (standard != no_syntax) parameter.standard = excerpt(syntax, standard);
  }
  if (name == no_syntax) return;
  parameter.name = excerpt(syntax, name);
  if (!keyword_only) {
    ++function.positional;
    if (parameter.standard.empty()) ++function.required;
  }
  function.parameters.push_back(std::move(parameter));
}

void add_parameters(const PythonSyntax& syntax, SyntaxIndex parameters, PythonFunction& function) {
  constexpr std::size_t max_parameters = 128;
  bool keyword_only = false;
  for (SyntaxIndex index = parameters + 1; index < syntax[parameters].next;
       index = syntax[index].next) {
    if (function.parameters.size() == max_parameters) {
      function.found = false;
      return;
    }
    SyntaxIndex inner = index;
    // `*args: int` is a splat within a typed parameter.
    if (syntax.is(index, SyntaxKind::typed_parameter)) inner = syntax.first(index);
    if (inner == no_syntax) continue;
    switch (syntax[inner].kind) {
      case SyntaxKind::list_splat_pattern:
        function.variadic = true;
        keyword_only = true;
        break;
      case SyntaxKind::keyword_separator:
        keyword_only = true;
        break;
      case SyntaxKind::dictionary_splat_pattern:
        function.any_name = true;
        break;
      case SyntaxKind::positional_separator:
      case SyntaxKind::error:
        break;
      default:
        add_parameter(syntax, index, keyword_only, function);
        break;
    }
  }
}

// Takes away what `functools.partial` binds.
void bind_arguments(const PythonSyntax& syntax, SyntaxIndex arguments, PythonFunction& function) {
  std::size_t positional = 0;
  std::vector<std::string_view> named;
  bool first = true;
  for (const SyntaxIndex argument : syntax.children(arguments)) {
    if (first) {
      first = false;
    } else if (syntax.is(argument, SyntaxKind::keyword_argument)) {
      const SyntaxIndex name = syntax.child(argument, SyntaxField::name);
      if (name != no_syntax) named.push_back(syntax.text_of(name));
      function.any_name = true;
    } else if (syntax.is(argument, SyntaxKind::list_splat) ||
               syntax.is(argument, SyntaxKind::dictionary_splat)) {
      function.found = false;
    } else {
      ++positional;
    }
  }
  std::vector<PythonParameter> left;
  bool behind_named = false;
  for (PythonParameter& parameter : function.parameters) {
    if (positional > 0 && !parameter.keyword_only) {
      --positional;
      continue;
    }
    const bool bound = std::find(named.begin(), named.end(), parameter.name) != named.end();
    // One that is bound by name, and all behind it, can only be given by name from then on.
    behind_named = behind_named || (bound && !parameter.keyword_only);
    if (bound) continue;
    parameter.keyword_only = parameter.keyword_only || behind_named;
    left.push_back(std::move(parameter));
  }
  function.parameters = std::move(left);
  function.positional = 0;
  function.required = 0;
  for (const PythonParameter& parameter : function.parameters) {
    if (parameter.keyword_only) continue;
    ++function.positional;
    if (parameter.standard.empty()) ++function.required;
  }
}

bool is_partial(const PythonScopes& scopes, SyntaxIndex called) {
  for (const std::string& name : scopes.full_names(called)) {
    if (name == "functools.partial" || name == "partial" || name == "jax.tree_util.Partial") {
      return true;
    }
  }
  return false;
}

// Fills in what an expression tells of the signature.
void find_signature(const PythonSyntax& syntax, const PythonScopes& scopes,
                    PythonConstants& constants, SyntaxIndex expression, std::size_t depth,
                    PythonFunction& function) {
  constexpr std::size_t max_depth = 8;
  const SyntaxIndex index = syntax.unwrapped(expression);
  if (index == no_syntax || depth >= max_depth) return;
  if (syntax.is(index, SyntaxKind::lambda)) {
    function.found = true;
    function.node = index;
    function.definition = syntax.place_of(index);
    const SyntaxIndex parameters = syntax.child(index, SyntaxField::parameters);
    if (parameters != no_syntax) add_parameters(syntax, parameters, function);
    return;
  }
  if (syntax.is(index, SyntaxKind::call)) {
    const SyntaxIndex called = syntax.child(index, SyntaxField::function);
    const SyntaxIndex arguments = syntax.child(index, SyntaxField::arguments);
    if (called == no_syntax || !syntax.is(arguments, SyntaxKind::argument_list)) return;
    const SyntaxIndex inner = syntax.first(arguments);
    if (inner == no_syntax || syntax.is(inner, SyntaxKind::keyword_argument)) return;
    if (!is_partial(scopes, called)) return;
    find_signature(syntax, scopes, constants, inner, depth + 1, function);
    if (depth == 0) function.name = excerpt(syntax, inner);
    if (function.found) bind_arguments(syntax, arguments, function);
    return;
  }
  if (!syntax.is(index, SyntaxKind::identifier)) return;
  const PythonBinding* binding = scopes.only(syntax.text_of(index), index);
  if (binding == nullptr) return;
  if (binding->kind == PythonBinding::Kind::value) {
    find_signature(syntax, scopes, constants, binding->value, depth + 1, function);
  } else if (binding->kind == PythonBinding::Kind::definition &&
             syntax.is(binding->value, SyntaxKind::function_definition)) {
    const std::string name = function.name;
    const PythonPlace place = function.place;
    function = python_definition(syntax, binding->value);
    function.name = name;
    function.place = place;
  }
}

}  // namespace

PythonFunction python_definition(const PythonSyntax& syntax, SyntaxIndex definition) {
  PythonFunction function;
  const SyntaxIndex name = syntax.child(definition, SyntaxField::name);
  if (name == no_syntax) return function;
  function.found = true;
  function.node = definition;
  function.name = excerpt(syntax, name);
  function.place = syntax.place_of(name);
  function.definition = {syntax[definition].begin, syntax[name].end - syntax[definition].begin};
  const SyntaxIndex parameters = syntax.child(definition, SyntaxField::parameters);
  if (parameters != no_syntax) add_parameters(syntax, parameters, function);
  const SyntaxIndex returns = syntax.child(definition, SyntaxField::return_type);
  if (returns != no_syntax) function.returns = excerpt(syntax, returns);
  // What a decorator makes of it may take other arguments; those that are known don't change it.
  return function;
}

PythonFunction python_function(const PythonSyntax& syntax, const PythonScopes& scopes,
                               PythonConstants& constants, SyntaxIndex expression) {
  PythonFunction function;
  if (expression == no_syntax) return function;
  PythonConstant constant = constants.of(expression);
  SyntaxIndex index = syntax.unwrapped(expression);
  // A loop's name stands for what it is in this round.
  if (constant.node != no_syntax && constant.kind == PythonConstant::Kind::reference) {
    index = constant.node;
  }
  function.place = syntax.place_of(syntax.unwrapped(expression));
  if (constant.kind == PythonConstant::Kind::none) {
    function.null = true;
    return function;
  }
  function.name = syntax.is(index, SyntaxKind::lambda) ? "lambda" : excerpt(syntax, index);
  find_signature(syntax, scopes, constants, index, 0, function);
  return function;
}

}  // namespace opseal
