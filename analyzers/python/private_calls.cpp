// What the calls of a file's own functions hand over, so that what such a function registers is
// known under the names that it is called with.

#include <algorithm>
#include <utility>

#include "analyzers/python/constants.h"

namespace opseal {

namespace {

using Kind = PythonConstant::Kind;

// Calls of one function; each is a round.
constexpr std::size_t most_calls = 256;
constexpr std::size_t most_parameters = 32;

// Calls of a project's own `register_fake` and `custom_op` are read as they stand.
bool is_private(std::string_view name) {
  return name.starts_with('_') && !name.starts_with("__") &&
         name.find("register_fake") == name.npos && name.find("custom_op") == name.npos;
}

// The name of a parameter that takes one argument; empty for any other.
std::string_view name_of(const PythonSyntax& syntax, SyntaxIndex parameter) {
  SyntaxIndex name = parameter;
  if (syntax.is(parameter, SyntaxKind::typed_parameter)) name = syntax.first(parameter);
  if (syntax.is(parameter, SyntaxKind::default_parameter) ||
      syntax.is(parameter, SyntaxKind::typed_default_parameter)) {
    name = syntax.child(parameter, SyntaxField::name);
  }
  return syntax.is(name, SyntaxKind::identifier) ? syntax.text_of(name) : std::string_view();
}

}  // namespace

SyntaxIndex private_function_of(const PythonSyntax& syntax, SyntaxIndex parameter) {
  SyntaxIndex at = parameter;
  for (int depth = 0; depth < 4 && at != no_syntax; ++depth) {
    if (syntax.is(at, SyntaxKind::function_definition)) {
      const SyntaxIndex name = syntax.child(at, SyntaxField::name);
      const bool top = syntax.is(syntax[at].parent, SyntaxKind::module);
      return top && name != no_syntax && is_private(syntax.text_of(name)) ? at : no_syntax;
    }
    at = syntax[at].parent;
  }
  return no_syntax;
}

PythonConstant PythonConstants::of_parameter(const PythonBinding& binding,
                                             PythonConstant constant) {
  const SyntaxIndex function = private_function_of(syntax_, binding.name);
  if (function == no_syntax) return constant;
  const std::string_view name = syntax_.text_of(binding.name);
  const auto round = std::find_if(rounds.begin(), rounds.end(), [&](const PythonRound& one) {
    return one.loop == function && one.name == name;
  });
  if (round != rounds.end()) {
    steps_ += round->value.items.size() + round->value.text.size() / 16;
    return round->value.kind == Kind::undecided ? constant : round->value;
  }
  if (std::find(open_loops.begin(), open_loops.end(), function) == open_loops.end()) {
    open_loops.push_back(function);
  }
  return constant;
}

PythonConstant PythonConstants::calls_of(SyntaxIndex function) {
  PythonConstant calls;
  calls.node = function;
  if (!private_uses_read_) {
    private_uses_read_ = true;
    for (SyntaxIndex index = 0; index < syntax_.nodes.size(); ++index) {
      if (!syntax_.is(index, SyntaxKind::identifier)) continue;
      const std::string_view name = syntax_.text_of(index);
      if (is_private(name)) private_uses_[name].push_back(index);
    }
  }
  const SyntaxIndex named = syntax_.child(function, SyntaxField::name);
  const SyntaxIndex parameters = syntax_.child(function, SyntaxField::parameters);
  if (parameters == no_syntax) return calls;
  // Defined once, and never handed on: then these are all calls that there are.
  if (scopes_.only(syntax_.text_of(named), function) == nullptr) return calls;
  for (const SyntaxIndex use : private_uses_[syntax_.text_of(named)]) {
    if (use == named) continue;
    const SyntaxIndex call = syntax_[use].parent;
    const bool called =
        syntax_.is(call, SyntaxKind::call) && syntax_.child(call, SyntaxField::function) == use;
    if (!called || calls.items.size() == most_calls) return {Kind::undecided, {}, {}, function};
    calls.items.push_back(call_of(call, parameters));
  }
  if (!calls.items.empty()) calls.kind = Kind::list;
  return calls;
}

// The arguments in the order of the parameters, those that aren't known undecided.
PythonConstant PythonConstants::call_of(SyntaxIndex call, SyntaxIndex parameters) {
  PythonConstant made{Kind::list, {}, {}, call};
  const SyntaxIndex arguments = syntax_.child(call, SyntaxField::arguments);
  std::vector<SyntaxIndex> given;
  std::map<std::string_view, SyntaxIndex> by_name;
  bool open = !syntax_.is(arguments, SyntaxKind::argument_list);
  if (!open) {
    for (const SyntaxIndex argument : syntax_.children(arguments)) {
      if (syntax_.is(argument, SyntaxKind::list_splat) ||
          syntax_.is(argument, SyntaxKind::dictionary_splat)) {
        open = true;
      } else if (syntax_.is(argument, SyntaxKind::keyword_argument)) {
        const SyntaxIndex name = syntax_.child(argument, SyntaxField::name);
        const SyntaxIndex value = syntax_.child(argument, SyntaxField::value);
        if (name != no_syntax) by_name[syntax_.text_of(name)] = value;
      } else {
        given.push_back(argument);
      }
    }
  }
  std::size_t place = 0;
  for (const SyntaxIndex parameter : syntax_.children(parameters)) {
    if (made.items.size() == most_parameters) break;
    const std::string_view name = name_of(syntax_, parameter);
    SyntaxIndex value = no_syntax;
    if (const auto found = by_name.find(name); found != by_name.end()) {
      value = found->second;
    } else if (place < given.size()) {
      value = given[place];
    } else {
      value = syntax_.child(parameter, SyntaxField::value);
    }
    ++place;
    // What a loop around the call, or a function, gives isn't one thing.
    const std::vector<SyntaxIndex> before = open_loops;
    PythonConstant constant;
    if (!open && !name.empty() && value != no_syntax) constant = of(value);
    if (open_loops.size() != before.size()) constant = {};
    open_loops = before;
    made.items.push_back(std::move(constant));
  }
  return made;
}

}  // namespace opseal
