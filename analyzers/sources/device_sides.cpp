#include "analyzers/sources/device_sides.h"

#include <algorithm>
#include <array>

#include "analyzers/source/source_tree.h"

namespace opseal {
namespace {

// What stands in front of a name is looked at so far back.
constexpr std::uint32_t most_head = 256;

constexpr std::array<std::string_view, 9> device_words{
    "__global__", "__device__", "__host__", "__shared__",  "__constant__",
    "threadIdx",  "blockIdx",   "blockDim", "__managed__",
};

// Macros are spelled so: `C10_HOST_DEVICE`, `TCNN_KERNEL`.
bool is_capital(std::string_view word) {
  bool letters = false;
  for (const char byte : word) {
    if (byte >= 'a' && byte <= 'z') return false;
    letters = letters || (byte >= 'A' && byte <= 'Z');
  }
  return letters && word.size() > 2;
}

bool names_a_side(std::string_view word) {
  for (const std::string_view part : {"DEVICE", "GLOBAL", "HOST", "KERNEL", "device__", "host__"}) {
    if (word.find(part) != word.npos) return true;
  }
  return false;
}

struct Marks {
  bool kernel = false;
  bool device = false;
  bool host = false;
  bool unclear = false;

  void add(const Token& token) {
    if (!token.is_identifier()) return;
    kernel = kernel || token.is("__global__");
    device = device || token.is("__device__");
    host = host || token.is("__host__");
    // What is `constexpr` is compiled for both where nvcc is told so.
    const bool constant = token.is("constexpr") || token.is("consteval");
    unclear = unclear || constant || is_capital(token.text) || names_a_side(token.text);
  }
  CodeSide side() const {
    if (kernel) return CodeSide::kernel;
    if (device) return host ? CodeSide::both : CodeSide::device;
    if (host) return CodeSide::host;
    return unclear ? CodeSide::unknown : CodeSide::host;
  }
};

// A lambda says it behind its capture: `[=] __device__ (int i) {`.
bool is_plain_lambda(const PlainSource& source, const Scope& scope) {
  const auto& tokens = source.unit.tokens;
  std::uint32_t at = scope.body.begin - 1;
  for (std::uint32_t steps = 0; at > 0 && steps < most_head; ++steps) {
    const Token& before = tokens[--at];
    if (before.is(']')) return true;
    if (before.is(')')) {
      const std::uint32_t open = source.shape.partners[at];
      if (open == no_token || open >= at) return false;
      at = open;
      continue;
    }
    if (before.is_identifier() && (is_capital(before.text) || before.text.starts_with("__"))) {
      return false;
    }
  }
  return false;
}

}  // namespace

std::uint32_t declaration_start(const PlainSource& source, std::uint32_t name) {
  const auto& tokens = source.unit.tokens;
  std::uint32_t at = name;
  for (std::uint32_t steps = 0; at > 0 && steps < most_head; ++steps) {
    const Token& before = tokens[at - 1];
    if (before.is(';') || before.is('{') || before.is('}')) break;
    if (before.is(':') && at >= 2 && tokens[at - 2].is_identifier() &&
        (tokens[at - 2].is("public") || tokens[at - 2].is("private") ||
         tokens[at - 2].is("protected"))) {
      break;
    }
    --at;
    if (before.is(')') || before.is(']')) {
      const std::uint32_t open = source.shape.partners[at];
      if (open != no_token && open < at) at = open;
    }
  }
  return at;
}

CodeSide side_of_function(const PlainSource& source, std::uint32_t scope) {
  const Scope& function = source.shape.scopes[scope];
  if (function.name_token == no_token) return CodeSide::unknown;
  const auto& tokens = source.unit.tokens;
  Marks marks;
  std::uint32_t end = function.name_token;
  // `A::b` is a name as a whole.
  while (end >= 2 && tokens[end - 1].is("::") && tokens[end - 2].is_identifier()) end -= 2;
  std::uint32_t at = declaration_start(source, function.name_token);
  for (; at < end; ++at) marks.add(tokens[at]);
  // A macro that is called may make a function of any kind.
  marks.unclear = marks.unclear || is_capital(tokens[function.name_token].text);
  return marks.side();
}

std::uint32_t function_around(const PlainSource& source, std::uint32_t token) {
  std::uint32_t scope = source.scope_of(token);
  for (; scope != no_scope; scope = source.shape.scopes[scope].parent) {
    if (source.shape.scopes[scope].kind == ScopeKind::function) return scope;
  }
  return no_scope;
}

CodeSide side_at(const PlainSource& source, std::uint32_t token) {
  std::uint32_t scope = source.scope_of(token);
  for (; scope != no_scope; scope = source.shape.scopes[scope].parent) {
    const Scope& here = source.shape.scopes[scope];
    if (here.kind == ScopeKind::function) return side_of_function(source, scope);
    if (here.kind == ScopeKind::lambda && !is_plain_lambda(source, here)) return CodeSide::unknown;
  }
  return CodeSide::unknown;
}

std::string_view function_name(const PlainSource& source, std::uint32_t scope) {
  const Scope& function = source.shape.scopes[scope];
  if (function.name != "operator()") return function.name;
  const Scope* const type = source.shape.enclosing(function.parent, ScopeKind::type);
  return type != nullptr ? std::string_view(type->name) : std::string_view(function.name);
}

bool is_host_file(const PlainSource& source, std::string_view path) {
  constexpr std::array<std::string_view, 4> suffixes{".cpp", ".cc", ".cxx", ".c"};
  if (std::none_of(suffixes.begin(), suffixes.end(),
                   [&](std::string_view suffix) { return path.ends_with(suffix); })) {
    return false;
  }
  const auto is_of_a_device = [](const Token& token) {
    if (!token.is_identifier()) return false;
    if (token.text.size() > 2 && is_capital(token.text) && names_a_side(token.text)) return true;
    return std::find(device_words.begin(), device_words.end(), token.text) != device_words.end();
  };
  if (std::any_of(source.directive_tokens.begin(), source.directive_tokens.end(), is_of_a_device)) {
    return false;
  }
  const std::vector<Token>& tokens = source.unit.tokens;
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    if (is_of_a_device(tokens[at])) return false;
    if (tokens[at].is("<<<")) return false;
    if (at > 0 && tokens[at].is('<') && tokens[at - 1].is("<<")) return false;
  }
  return true;
}

}  // namespace opseal
