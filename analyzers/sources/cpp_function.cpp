#include "analyzers/sources/cpp_function.h"

#include <algorithm>
#include <array>

#include "analyzers/words.h"

namespace opseal {
namespace {

// Calls around a kernel, one in the other; nobody writes more.
constexpr int most_wrappers = 8;
// Bytes of a signature that are kept.
constexpr std::size_t longest_signature = 2000;

// Macros and functions that hand on their first argument.
constexpr std::array<std::string_view, 8> wrappers{
    "TORCH_FN",        "TORCH_BOX",   "WRAP_TO_ATEN", "CppFunction", "makeFromUnboxedFunction",
    "makeUnboxedOnly", "makeUnboxed", "move"};

// The index behind the `>` that closes the `<` at `open`, or `open` where none does.
std::size_t behind_angle(Tokens tokens, std::size_t open) {
  std::size_t depth = 0;
  for (std::size_t at = open; at < tokens.size(); ++at) {
    if (tokens[at].is('(') || tokens[at].is('[') || tokens[at].is('{')) {
      at = closing_bracket(tokens, at);
      if (at >= tokens.size()) return open;
    } else if (tokens[at].is('<')) {
      ++depth;
    } else if (tokens[at].is('>') && --depth == 0) {
      return at + 1;
    }
  }
  return open;
}

// The number of tokens of a qualified name at the front, template arguments left out.
std::size_t name_length(Tokens tokens) {
  std::size_t at = 0;
  if (at < tokens.size() && tokens[at].is("::")) ++at;
  while (at < tokens.size() && tokens[at].is_identifier()) {
    ++at;
    if (at >= tokens.size() || !tokens[at].is("::")) return at;
    ++at;
  }
  return 0;
}

// Parameters that torch fills in by itself.
bool is_hidden(Tokens parameter) {
  return std::any_of(parameter.begin(), parameter.end(),
                     [](const Token& token) { return token.is("DispatchKeySet"); });
}

bool is_boxed(Tokens parameter) {
  return std::any_of(parameter.begin(), parameter.end(), [](const Token& token) {
    return token.is("OperatorHandle") || token.is("StableIValue") || token.is("Stack");
  });
}

// The name of a parameter: the identifier that it ends with, behind a type.
std::string parameter_name(Tokens parameter) {
  if (parameter.size() < 2 || !parameter.back().is_identifier()) return {};
  const Token& before = parameter[parameter.size() - 2];
  if (before.is("::")) return {};
  if (before.is("const") || before.is("unsigned") || before.is("signed") || before.is("long")) {
    return parameter.size() > 2 ? std::string(parameter.back().text) : std::string();
  }
  return std::string(parameter.back().text);
}

// `const at::Tensor& x = {}` -> `Tensor`
std::string plain_type(Tokens type) {
  std::string text;
  bool word = false;
  for (std::size_t at = 0; at < type.size(); ++at) {
    const Token& token = type[at];
    const bool outer = at + 1 < type.size() && type[at + 1].is("::");
    if (outer || token.is("::") || token.is("const") || token.is('&')) continue;
    if (word && token.is_identifier()) text += ' ';
    text += token.text;
    word = token.is_identifier();
  }
  return text;
}

// Specifiers that are no part of a type.
bool is_specifier(const Token& token) {
  constexpr std::array<std::string_view, 9> words{"static",    "inline",    "extern",
                                                  "constexpr", "virtual",   "friend",
                                                  "explicit",  "consteval", "typename"};
  if (is_one_of(token.text, words)) return true;
  // `TORCH_API`, `DLL_PUBLIC`
  return token.is_identifier() && token.text.size() > 3 &&
         std::none_of(token.text.begin(), token.text.end(),
                      [](char byte) { return byte >= 'a' && byte <= 'z'; });
}

bool is_type_part(const Token& token) {
  return token.is_identifier() || token.kind == TokenKind::number || token.is("::") ||
         token.is('<') || token.is('>') || token.is(',') || token.is('*') || token.is('&');
}

void read_lambda(Tokens tokens, SourceFunction& function) {
  const std::size_t captures = closing_bracket(tokens, 0);
  if (captures + 1 >= tokens.size()) return;
  if (tokens[captures + 1].is('{')) {
    function.declared = true;
    return;
  }
  if (!tokens[captures + 1].is('(')) return;
  const std::size_t end = closing_bracket(tokens, captures + 1);
  if (end >= tokens.size()) return;
  function.declared = read_parameters(tokens.subspan(captures + 2, end - captures - 2), function);
  read_return_type({}, tokens.subspan(end + 1), function);
}

// `static_cast<R (*)(A, B)>(&fn)`: the type says which overload is meant.
void read_cast_type(Tokens type, SourceFunction& function) {
  for (std::size_t at = 0; at + 1 < type.size(); ++at) {
    if (!type[at].is('(')) continue;
    const std::size_t end = closing_bracket(type, at);
    if (end + 1 == type.size()) {
      function.declared = read_parameters(type.subspan(at + 1, end - at - 1), function);
      std::size_t name = 0;
      while (name < at && !type[name].is('(')) ++name;
      read_return_type(type.first(name), {}, function);
      return;
    }
    if (end >= type.size()) return;
    at = end;
    if (at + 1 < type.size() && type[at + 1].is('(')) continue;
  }
}

}  // namespace

SourcePlace place_of(Tokens tokens, std::uint32_t file) {
  SourcePlace place{file, 0, 0};
  if (tokens.empty()) return place;
  std::uint32_t end = 0;
  place.offset = tokens.front().offset;
  for (const Token& token : tokens) {
    place.offset = std::min(place.offset, token.offset);
    end = std::max(end, token.offset + token.length);
  }
  place.length = end - place.offset;
  return place;
}

std::vector<Tokens> split_typed(Tokens inside) {
  std::vector<Tokens> parts;
  if (inside.empty()) return parts;
  std::size_t begin = 0;
  std::size_t angles = 0;
  std::size_t at = 0;
  for (; at < inside.size(); ++at) {
    const Token& token = inside[at];
    if (token.is('(') || token.is('[') || token.is('{')) {
      const std::size_t end = closing_bracket(inside, at);
      if (end >= inside.size()) break;
      at = end;
    } else if (token.is('<')) {
      ++angles;
    } else if (token.is('>') && angles > 0) {
      --angles;
    } else if (token.is(',') && angles == 0) {
      parts.push_back(inside.subspan(begin, at - begin));
      begin = at + 1;
    }
  }
  parts.push_back(inside.subspan(begin));
  return parts;
}

bool read_parameters(Tokens inside, SourceFunction& function) {
  function.positional = 0;
  function.parameters.clear();
  function.types.clear();
  function.signature = "(" + text_of(inside).substr(0, longest_signature) + ")";
  if (inside.size() == 1 && inside[0].is("void")) inside = {};
  for (Tokens parameter : split_typed(inside)) {
    if (parameter.empty() || is_boxed(parameter)) return false;
    const auto assigns = std::find_if(parameter.begin(), parameter.end(),
                                      [](const Token& token) { return token.is('='); });
    parameter = parameter.first(static_cast<std::size_t>(assigns - parameter.begin()));
    const bool pack = std::any_of(parameter.begin(), parameter.end(),
                                  [](const Token& token) { return token.is("..."); });
    if (pack) return false;
    if (is_hidden(parameter)) continue;
    ++function.positional;
    function.parameters.push_back(parameter_name(parameter));
    const bool named = !function.parameters.back().empty();
    function.types.push_back(plain_type(parameter.first(parameter.size() - (named ? 1 : 0))));
  }
  // A function that is called through its type has no defaults.
  function.required = function.positional;
  const bool named = std::none_of(function.parameters.begin(), function.parameters.end(),
                                  [](const std::string& name) { return name.empty(); });
  if (!named) function.parameters.clear();
  return true;
}

void read_return_type(Tokens head, Tokens tail, SourceFunction& function) {
  constexpr std::size_t longest_type = 64;
  Tokens type;
  if (!tail.empty() && tail.front().is("->")) {
    std::size_t end = 1;
    while (end < tail.size() && end < longest_type && is_type_part(tail[end])) ++end;
    type = tail.subspan(1, end - 1);
  } else {
    std::size_t start = head.size();
    while (start > 0 && head.size() - start < longest_type && is_type_part(head[start - 1])) {
      --start;
    }
    type = head.subspan(start);
    while (type.size() > 1 && type[0].is("template") && type[1].is('<')) {
      type = type.subspan(behind_angle(type, 1));
    }
    while (!type.empty() && is_specifier(type.front())) type = type.subspan(1);
  }
  // Conditionals and macros leave more than a type there.
  const bool known = !type.empty() && type.size() < longest_type &&
                     (type.front().is_identifier() || type.front().is("::")) &&
                     std::none_of(type.begin(), type.end(), [](const Token& token) {
                       return token.is("auto") || token.is("decltype") || is_specifier(token);
                     });
  function.types.push_back(known ? plain_type(type) : std::string());
  if (known) function.signature = text_of(type) + " " + function.signature;
}

std::vector<NamedParameter> named_parameters(Tokens inside, std::size_t most) {
  std::vector<NamedParameter> parameters;
  std::size_t position = 0;
  for (const Tokens parameter : split_typed(inside)) {
    const std::size_t here = position++;
    if (here == most) return {};
    NamedParameter made;
    made.position = here;
    for (const Token& token : parameter) {
      if (token.is('=')) break;
      if (token.is("Tensor")) made.tensor = true;
      if (token.is("const")) made.is_const = true;
      if (token.is('&')) made.by_reference = true;
      // Lists of tensors have no pointer of their own.
      if (token.is("TensorList") || token.is("vector") || token.is("ArrayRef")) made.tensor = false;
      if (token.is_identifier()) made.name = &token;
    }
    if (made.name != nullptr) parameters.push_back(made);
  }
  return parameters;
}

bool is_qualified(Tokens tokens, std::size_t at) {
  return at > 0 && (tokens[at - 1].is('.') || tokens[at - 1].is("->") || tokens[at - 1].is("::"));
}

std::string_view base_of(std::string_view name) {
  name = name.substr(0, name.find('<'));
  const std::size_t colons = name.rfind("::");
  if (colons != name.npos) name.remove_prefix(colons + 2);
  while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
  while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
  return name;
}

KernelArgument read_kernel_argument(Tokens tokens, std::uint32_t file) {
  KernelArgument kernel;
  for (int depth = 0; depth < most_wrappers && !tokens.empty(); ++depth) {
    if (tokens.front().is('&')) {
      tokens = tokens.subspan(1);
      continue;
    }
    if (tokens.front().is('(') && closing_bracket(tokens, 0) + 1 == tokens.size()) {
      tokens = tokens.subspan(1, tokens.size() - 2);
      continue;
    }
    if (tokens.front().is('[')) {
      kernel.function.place = place_of(tokens, file);
      read_lambda(tokens, kernel.function);
      return kernel;
    }
    const std::size_t length = name_length(tokens);
    if (length == 0) return kernel;
    const Token& last = tokens[length - 1];
    std::size_t behind = length;
    if (behind < tokens.size() && tokens[behind].is('<')) behind = behind_angle(tokens, behind);
    if (behind == tokens.size()) {
      kernel.function.name = text_of(tokens.first(length));
      kernel.function.place = place_of(tokens, file);
      return kernel;
    }
    if (!tokens[behind].is('(') || closing_bracket(tokens, behind) + 1 != tokens.size()) {
      return kernel;
    }
    const std::vector<Tokens> arguments =
        split_arguments(tokens.subspan(behind + 1, tokens.size() - behind - 2));
    if (last.is("makeFallthrough")) {
      kernel.fallthrough = true;
      return kernel;
    }
    if (arguments.empty()) return kernel;
    if (last.is("static_cast") && behind > length + 1) {
      read_cast_type(tokens.subspan(length + 1, behind - length - 2), kernel.function);
      tokens = arguments.front();
    } else if (last.is("dispatch") && arguments.size() == 2) {
      kernel.key = arguments[0];
      tokens = arguments[1];
    } else if (is_one_of(last.text, wrappers)) {
      // The commas of template arguments divided it.
      const Tokens& first = arguments.front();
      const bool whole = last.is("WRAP_TO_ATEN") || arguments.size() == 1;
      tokens = whole ? first : tokens.subspan(behind + 1, tokens.size() - behind - 2);
    } else {
      return kernel;
    }
  }
  return kernel;
}

}  // namespace opseal
