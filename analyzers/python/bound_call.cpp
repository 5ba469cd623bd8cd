#include "analyzers/python/bound_call.h"

#include <algorithm>

namespace opseal {

namespace {

struct Parameters {
  std::vector<BoundArgument> positional;
  std::vector<BoundArgument> named;
  bool rest = false;
  std::string_view rest_role;
};

Parameters split(std::string_view text) {
  Parameters parameters;
  bool named = false;
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, blank);
    text.remove_prefix(std::min(blank + 1, text.size()));
    const std::size_t colon = word.find(':');
    const std::string_view keyword = word.substr(0, colon);
    const std::string_view role =
        colon == std::string_view::npos ? std::string_view() : word.substr(colon + 1);
    if (keyword == "|") {
      named = true;
    } else if (keyword == "*") {
      parameters.rest = true;
      parameters.rest_role = role;
    } else {
      (named ? parameters.named : parameters.positional).push_back({keyword, role, no_syntax});
    }
  }
  return parameters;
}

std::string_view role_of(const Parameters& parameters, std::string_view keyword) {
  for (const std::vector<BoundArgument>* list : {&parameters.positional, &parameters.named}) {
    for (const BoundArgument& parameter : *list) {
      if (parameter.keyword == keyword) return parameter.role;
    }
  }
  return {};
}

}  // namespace

SyntaxIndex BoundCall::in(std::string_view role) const {
  for (const BoundArgument& argument : arguments) {
    if (argument.role == role) return argument.value;
  }
  return no_syntax;
}

BoundCall bind_call(const PythonSyntax& syntax, SyntaxIndex arguments, std::string_view parameters,
                    std::size_t skipped) {
  const Parameters known = split(parameters);
  BoundCall bound;
  // More than any registration takes.
  constexpr std::size_t max_arguments = 128;
  std::size_t position = 0;
  for (SyntaxIndex argument = arguments + 1; argument < syntax[arguments].next;
       argument = syntax[argument].next) {
    if (bound.arguments.size() == max_arguments) {
      bound.open_ended = true;
      break;
    }
    if (syntax.is(argument, SyntaxKind::list_splat) ||
        syntax.is(argument, SyntaxKind::dictionary_splat)) {
      bound.open_ended = true;
      continue;
    }
    if (syntax.is(argument, SyntaxKind::keyword_argument)) {
      const SyntaxIndex name = syntax.child(argument, SyntaxField::name);
      const SyntaxIndex value = syntax.child(argument, SyntaxField::value);
      if (name == no_syntax || value == no_syntax) continue;
      const std::string_view keyword = syntax.text_of(name);
      bound.arguments.push_back({keyword, role_of(known, keyword), value});
      continue;
    }
    if (skipped > 0) {
      --skipped;
      continue;
    }
    // Behind `*args` no position is known.
    if (!bound.open_ended && position < known.positional.size()) {
      bound.arguments.push_back(known.positional[position]);
      bound.arguments.back().value = argument;
    } else {
      bound.arguments.push_back({{}, known.rest ? known.rest_role : std::string_view(), argument});
    }
    ++position;
  }
  return bound;
}

}  // namespace opseal
