#include "analyzers/sources/handlers.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/cpp_record.h"
#include "analyzers/sources/handler_binding.h"

namespace opseal {
namespace {

// Tokens of a chain, and of the expression that keeps it.
constexpr std::size_t most_chain_tokens = 4096;
// Scopes around a handler that is kept, and tokens of the function's parameters.
constexpr std::size_t most_scopes = 64;
constexpr std::uint32_t most_frame_tokens = 16;

// `return Bind()…;` of the functions that make bindings, by name.
using Makers = std::unordered_map<std::string_view, Tokens>;

Makers makers_of(const SourceUnit& unit, const Invocations& found) {
  Makers makers;
  for (const Scope& scope : found.scopes) {
    if (scope.kind != ScopeKind::function) continue;
    const Tokens body =
        Tokens(unit.tokens).subspan(scope.body.begin, scope.body.end - scope.body.begin);
    if (body.empty() || body.size() > most_chain_tokens || !body.front().is("return")) continue;
    const auto end =
        std::find_if(body.begin(), body.end(), [](const Token& token) { return token.is(';'); });
    const auto length = static_cast<std::size_t>(end - body.begin());
    makers.try_emplace(base_of(scope.name), body.subspan(1, length - 1));
  }
  return makers;
}

// `MakeBinding()`; empty for anything else.
std::string_view called_function(Tokens tokens) {
  const bool call = tokens.size() >= 3 && tokens.back().is(')') &&
                    tokens[tokens.size() - 2].is('(') && tokens[tokens.size() - 3].is_identifier();
  return call ? tokens[tokens.size() - 3].text : std::string_view();
}

void read_traits(Tokens tokens, std::vector<std::string>& traits) {
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    const bool last = at + 1 >= tokens.size() || !tokens[at + 1].is("::");
    if (tokens[at].is_identifier() && last) traits.emplace_back(tokens[at].text);
  }
}

// The chain, or that of a function which makes it.
HandlerBinding binding_of(Tokens tokens, const Makers& makers) {
  HandlerBinding binding = read_binding(tokens);
  if (binding.whole) return binding;
  const auto maker = makers.find(called_function(tokens));
  return maker == makers.end() ? binding : read_binding(maker->second);
}

void set_binding(HandlerBinding binding, HandlerRecord& record) {
  record.bound = binding.whole;
  if (binding.whole) record.spec = std::move(binding.spec);
  record.stage = std::move(binding.stage);
}

void set_function(Tokens tokens, std::uint32_t file, HandlerRecord& record) {
  record.function = read_kernel_argument(tokens, file).function;
  // Of a lambda.
  if (record.function.declared) complete_handler(record, {}, {});
}

// `XLA_FFI_DEFINE_HANDLER(symbol, implementation, chain, traits)`
void read_definition(const SourceUnit& unit, const Makers& makers, const Invocation& invocation,
                     std::vector<HandlerRecord>& records) {
  const std::vector<Tokens>& arguments = invocation.arguments;
  if (arguments.size() < 2 || arguments[0].size() != 1) return;
  HandlerRecord record = record_at<HandlerRecord>(unit, invocation);
  record.symbol = {std::string(arguments[0][0].text), place_of(arguments[0], unit.file)};
  set_function(arguments[1], unit.file, record);
  // Without a chain the parameters themselves say what is bound.
  const bool automatic = invocation.name.ends_with("_AUTO");
  if (!automatic && arguments.size() > 2) {
    set_binding(binding_of(arguments[2], makers), record);
  }
  if (const std::size_t at = automatic ? 2 : 3; arguments.size() > at) {
    read_traits(arguments[at], record.traits);
  }
  records.push_back(std::move(record));
}

// The first token of the expression that ends before `end`.
std::uint32_t start_of_expression(const SourceUnit& unit, const Invocations& found,
                                  std::uint32_t end) {
  std::uint32_t at = end;
  for (std::size_t steps = 0; at > 0 && steps < most_chain_tokens; ++steps) {
    const Token& token = unit.tokens[at - 1];
    if (token.is(')') || token.is(']')) {
      const std::uint32_t open = found.partners[at - 1];
      if (open == no_token || open >= at) return at;
      at = open;
      continue;
    }
    const bool outside = token.is('(') || token.is('[') || token.is('{') || token.is('}') ||
                         token.is(';') || token.is(',') || token.is('=') || token.is("return");
    if (outside) return at;
    --at;
  }
  return at;
}

// The function with the call frame of XLA in which something stands, be it a lambda that is kept in
// a variable; no_token where there is none.
std::uint32_t frame_function(const SourceUnit& unit, const Invocations& found,
                             std::uint32_t scope) {
  for (std::size_t depth = 0; scope != no_scope && depth < most_scopes; ++depth) {
    const Scope& here = found.scopes[scope];
    scope = here.parent;
    const TokenRange& parameters = here.parameters;
    // A call frame is all that such a function takes.
    if (parameters.end - parameters.begin > most_frame_tokens) continue;
    const auto begin = unit.tokens.begin();
    const bool framed =
        std::any_of(begin + parameters.begin, begin + parameters.end,
                    [](const Token& token) { return token.is("XLA_FFI_CallFrame"); });
    if (!framed) continue;
    if (here.kind == ScopeKind::function) return here.name_token;
    if (here.kind != ScopeKind::lambda || parameters.begin < 2) return no_token;
    const std::uint32_t close = parameters.begin - 2;
    std::uint32_t at = unit.tokens[close].is(']') ? found.partners[close] : no_token;
    if (at == no_token || at >= close) return no_token;
    while (at > 0 && unit.tokens[at - 1].is('+')) --at;
    return at >= 2 && unit.tokens[at - 1].is('=') ? at - 2 : no_token;
  }
  return no_token;
}

// `static auto* handler = Ffi::Bind()….To(implementation).release();`
void read_object(const SourceUnit& unit, const Invocations& found, const Makers& makers,
                 const Invocation& invocation, std::vector<HandlerRecord>& records) {
  if (invocation.name_token < 2 || invocation.arguments.empty()) return;
  const std::uint32_t dot = invocation.name_token - 1;
  const std::uint32_t start = start_of_expression(unit, found, dot);
  if (dot - start > most_chain_tokens) return;
  HandlerBinding binding = binding_of(Tokens(unit.tokens).subspan(start, dot - start), makers);
  // Others have a function of that name, too.
  if (!binding.whole) return;
  std::uint32_t name = frame_function(unit, found, invocation.scope);
  if (name == no_token && start >= 2 && unit.tokens[start - 1].is('=')) name = start - 2;
  if (name == no_token || !unit.tokens[name].is_identifier()) return;
  HandlerRecord record = record_at<HandlerRecord>(unit, invocation);
  const Tokens symbol = Tokens(unit.tokens).subspan(name, 1);
  record.symbol = {std::string(symbol[0].text), place_of(symbol, unit.file)};
  // The commas of template arguments divide what stands between the brackets.
  set_function(
      Tokens(unit.tokens).subspan(invocation.open + 1, invocation.close - invocation.open - 1),
      unit.file, record);
  set_binding(std::move(binding), record);
  records.push_back(std::move(record));
}

}  // namespace

void read_handlers_cpp(const SourceUnit& unit, const Invocations& found,
                       std::vector<HandlerRecord>& records) {
  // Most files define no handler.
  Makers makers;
  bool ready = false;
  for (const Invocation& invocation : found.list) {
    const bool defines = invocation.name.starts_with("XLA_FFI_DEFINE_HANDLER");
    const bool keeps = invocation.name == "To" && invocation.form == InvocationForm::member;
    if (!defines && !keeps) continue;
    if (!ready) makers = makers_of(unit, found);
    ready = true;
    if (defines) {
      read_definition(unit, makers, invocation, records);
    } else {
      read_object(unit, found, makers, invocation, records);
    }
  }
}

// The partner of the last token, which ends the parameters: a type may stand before them. The
// number of tokens where there is none.
static std::size_t opening_bracket(Tokens tokens) {
  std::size_t depth = 0;
  for (std::size_t at = tokens.size(); at-- > 0;) {
    if (tokens[at].is(')')) ++depth;
    if (tokens[at].is('(') && depth > 0 && --depth == 0) return at;
    if (depth == 0) break;
  }
  return tokens.size();
}

void complete_handler(HandlerRecord& handler, const Declarations& declarations,
                      const std::vector<std::string>& paths) {
  std::vector<const SourceFunction*> candidates;
  if (handler.function.declared) {
    candidates.push_back(&handler.function);
  } else {
    candidates = declarations.meant_by(handler.function, paths);
  }
  for (const SourceFunction* candidate : candidates) {
    TextArena arena;
    Lexer lexer(candidate->signature, arena);
    std::vector<Token> tokens;
    for (Token token; lexer.next(token);) tokens.push_back(token);
    // Cut, or no list.
    const std::size_t open = opening_bracket(tokens);
    if (open >= tokens.size()) {
      handler.parameters.clear();
      return;
    }
    std::vector<std::string> words =
        parameter_words(Tokens(tokens).subspan(open + 1, tokens.size() - open - 2));
    if (candidate == candidates.front()) {
      handler.parameters = std::move(words);
      continue;
    }
    if (words.size() != handler.parameters.size()) {
      handler.parameters.clear();
      return;
    }
    for (std::size_t at = 0; at < words.size(); ++at) {
      if (handler.parameters[at] != words[at]) handler.parameters[at] = "?";
    }
  }
  if (!handler.function.declared && !candidates.empty()) {
    const std::string name = handler.function.name;
    handler.function = *candidates.front();
    handler.function.name = name;
  }
}

}  // namespace opseal
