#include "analyzers/sources/handlers.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/cpp_record.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Parameters of one function; nobody has more.
constexpr std::size_t most_parameters = 256;
// Tokens of a chain outside of its brackets.
constexpr std::size_t most_chain_tokens = 4096;

constexpr std::string_view stages[] = {"instantiate", "prepare", "initialize", "execute", "record"};

// C++ types as specs spell them, by the last part of their name. `long` has 64 bits wherever XLA
// runs.
struct Spelling {
  std::string_view type;
  std::string_view word;
};
constexpr Spelling types[] = {
    {"bool", "bool"},       {"int8_t", "int8"},          {"int16_t", "int16"},
    {"short", "int16"},     {"int32_t", "int32"},        {"int", "int32"},
    {"int64_t", "int64"},   {"long", "int64"},           {"ptrdiff_t", "int64"},
    {"uint8_t", "uint8"},   {"uint16_t", "uint16"},      {"uint32_t", "uint32"},
    {"unsigned", "uint32"}, {"uint64_t", "uint64"},      {"size_t", "uint64"},
    {"float", "float32"},   {"double", "float64"},       {"string_view", "string"},
    {"string", "string"},   {"Dictionary", "dictionary"}};

// Contexts by the last part of their name, as far as it says what is bound.
constexpr Spelling contexts[] = {{"ScratchAllocator", "ctx.scratch"},
                                 {"ThreadPool", "ctx.thread_pool"},
                                 {"RunId", "ctx.run_id"},
                                 {"DeviceOrdinal", "ctx.device_ordinal"},
                                 {"Context", "ctx.context"}};

std::string_view find_word(std::span<const Spelling> list, std::string_view type) {
  const auto found = std::find_if(list.begin(), list.end(),
                                  [type](const Spelling& one) { return one.type == type; });
  return found == list.end() ? std::string_view() : found->word;
}

// A type without `const`, `&` and the namespaces in front.
struct PlainType {
  Tokens name;
  Tokens template_arguments;
  // What stands behind, such as `*`.
  Tokens rest;
};

bool is_decoration(const Token& token) {
  return token.is("const") || token.is("volatile") || token.is("struct") || token.is("typename") ||
         token.is("constexpr") || token.is("enum") || token.is('&') || token.is("&&");
}

PlainType plain(Tokens type) {
  while (!type.empty() && is_decoration(type.front())) type = type.subspan(1);
  while (!type.empty() && is_decoration(type.back())) type = type.first(type.size() - 1);
  PlainType made;
  std::size_t at = 0;
  if (at < type.size() && type[at].is("::")) ++at;
  while (at + 1 < type.size() && type[at].is_identifier() && type[at + 1].is("::")) at += 2;
  std::size_t end = at;
  while (end < type.size() && type[end].is_identifier()) ++end;
  made.name = type.subspan(at, end - at);
  if (end < type.size() && type[end].is('<')) {
    std::size_t depth = 0;
    std::size_t close = end;
    for (; close < type.size(); ++close) {
      if (type[close].is('<')) ++depth;
      if (type[close].is('>') && --depth == 0) break;
    }
    if (close < type.size()) {
      made.template_arguments = type.subspan(end + 1, close - end - 1);
      end = close + 1;
    }
  }
  made.rest = type.subspan(end);
  return made;
}

// The type of an attribute in the words of a spec; empty where it is none of the known ones.
std::string scalar_word(Tokens type) {
  const PlainType simple = plain(type);
  if (!simple.rest.empty() || simple.name.empty()) return {};
  if (simple.name.size() > 1) {
    // `unsigned int`, `long long`.
    std::string words = text_of(simple.name);
    if (words == "long long" || words == "long int") return "int64";
    if (words == "unsigned int") return "uint32";
    if (words == "unsigned long" || words == "unsigned long long") return "uint64";
    return {};
  }
  if (!simple.template_arguments.empty()) {
    if (!simple.name.front().is("Span")) return {};
    const std::string inner = scalar_word(simple.template_arguments);
    return inner.empty() ? std::string() : "span<" + inner + ">";
  }
  return std::string(find_word(types, simple.name.front().text));
}

std::string attribute_type(Tokens type) {
  std::string word = scalar_word(type);
  return word.empty() ? text_of(type) : word;
}

std::string context_word(Tokens type) {
  const PlainType simple = plain(type);
  if (simple.name.size() != 1) return "ctx." + text_of(type);
  const std::string_view name = simple.name.front().text;
  if (name.find("Stream") != name.npos) return "stream";
  if (name == "State") return "ctx.state<" + text_of(simple.template_arguments) + ">";
  const std::string_view word = find_word(contexts, name);
  return word.empty() ? "ctx." + text_of(type) : std::string(word);
}

// `return Bind()…;` of the function that makes the binding, as far as the unit has it.
Tokens returned_by(std::string_view function, const SourceUnit& unit, const Invocations& found) {
  for (const Scope& scope : found.scopes) {
    if (scope.kind != ScopeKind::function || base_of(scope.name) != function) continue;
    const Tokens body =
        Tokens(unit.tokens).subspan(scope.body.begin, scope.body.end - scope.body.begin);
    if (body.empty() || !body.front().is("return")) return {};
    const auto end =
        std::find_if(body.begin(), body.end(), [](const Token& token) { return token.is(';'); });
    return body.subspan(1, static_cast<std::size_t>(end - body.begin()) - 1);
  }
  return {};
}

// `MakeBinding()`; empty for anything else.
std::string_view called_function(Tokens tokens) {
  const bool call = tokens.size() >= 3 && tokens.back().is(')') &&
                    tokens[tokens.size() - 2].is('(') && tokens[tokens.size() - 3].is_identifier();
  return call ? tokens[tokens.size() - 3].text : std::string_view();
}

// One link of the chain as a word; empty where it says something else.
std::string link_word(const ChainLink& link) {
  const std::string_view name = link.name;
  if (name == "Arg") return "arg";
  if (name == "OptionalArg") return "arg?";
  if (name == "RemainingArgs") return "arg*";
  if (name == "Ret") return "ret";
  if (name == "OptionalRet") return "ret?";
  if (name == "RemainingRets") return "ret*";
  if (name == "Ctx" && !link.template_arguments.empty()) {
    return context_word(link.template_arguments);
  }
  if (name == "Attrs") return "attr.*";
  if (name != "Attr" || link.template_arguments.empty()) return {};
  bool only_strings = false;
  const std::string attribute = string_value(link.arguments, &only_strings);
  if (!only_strings || attribute.empty()) return {};
  return "attr." + attribute + ":" + attribute_type(link.template_arguments);
}

// `BindPrepare`, `Bind<ExecutionStage::kPrepare>`, and aliases of such stages; empty where a name
// says nothing.
std::string stage_of(Tokens root) {
  std::string text;
  bool plain_bind = false;
  for (std::size_t at = 0; at < root.size(); ++at) {
    if (!root[at].is_identifier() || !root[at].text.starts_with("Bind")) continue;
    plain_bind = root[at].is("Bind") && at + 1 < root.size() && root[at + 1].is('(');
    text = lower(text_of(root.subspan(at)));
  }
  if (plain_bind) return "execute";
  for (const std::string_view stage : stages) {
    if (text.find(stage) != text.npos) return std::string(stage);
  }
  return {};
}

bool is_root(Tokens root) {
  constexpr std::string_view roots[] = {"Bind",           "BindInstantiate", "BindPrepare",
                                        "BindInitialize", "BindExecute",     "BindRecord"};
  // `Bind()` and `Bind<stage>()`.
  if (root.size() < 3 || !root.back().is(')') || !root[root.size() - 2].is('(')) return false;
  return std::any_of(root.begin(), root.end(), [&roots](const Token& token) {
    return std::find(std::begin(roots), std::end(roots), token.text) != std::end(roots);
  });
}

// The type of a parameter: all but its name, which follows a type.
Tokens type_of(Tokens parameter) {
  const auto assigns = std::find_if(parameter.begin(), parameter.end(),
                                    [](const Token& token) { return token.is('='); });
  parameter = parameter.first(static_cast<std::size_t>(assigns - parameter.begin()));
  if (parameter.size() < 2 || !parameter.back().is_identifier()) return parameter;
  const Token& before = parameter[parameter.size() - 2];
  if (before.is("::") || is_decoration(parameter.back())) return parameter;
  const bool is_type = !find_word(types, parameter.back().text).empty();
  const bool behind_type = !before.is("const") && !before.is("unsigned") && !before.is("long");
  return is_type && !behind_type ? parameter : parameter.first(parameter.size() - 1);
}

std::string parameter_word(Tokens parameter) {
  const Tokens type = type_of(parameter);
  const PlainType simple = plain(type);
  if (simple.name.size() == 1 && simple.rest.empty()) {
    const std::string_view name = simple.name.front().text;
    const bool buffer = name.starts_with("Buffer") || name == "AnyBuffer" || name == "Token";
    if (name == "RemainingArgs") return "arg*";
    if (name == "RemainingRets") return "ret*";
    if (name.starts_with("ResultBuffer")) return "ret";
    if (name == "Result" && !simple.template_arguments.empty()) return "ret";
    if (buffer) return "arg";
    if (name == "cudaStream_t" || name == "hipStream_t" || name == "gpuStream_t") return "stream";
  }
  const std::string word = scalar_word(type);
  if (word.empty()) return "?";
  const std::size_t named = parameter.size() - type.size();
  return "attr." + (named == 1 ? std::string(parameter.back().text) : std::string("_")) + ":" +
         word;
}

void read_traits(Tokens tokens, std::vector<std::string>& traits) {
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    const bool last = at + 1 >= tokens.size() || !tokens[at + 1].is("::");
    if (tokens[at].is_identifier() && last) traits.emplace_back(tokens[at].text);
  }
}

// The chain, or that of a function which makes it.
HandlerBinding binding_of(Tokens tokens, const SourceUnit& unit, const Invocations& found) {
  HandlerBinding binding = read_binding(tokens);
  if (binding.whole) return binding;
  const std::string_view maker = called_function(tokens);
  return maker.empty() ? binding : read_binding(returned_by(maker, unit, found));
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
void read_definition(const SourceUnit& unit, const Invocations& found, const Invocation& invocation,
                     std::vector<HandlerRecord>& records) {
  const std::vector<Tokens>& arguments = invocation.arguments;
  if (arguments.size() < 2 || arguments[0].size() != 1) return;
  HandlerRecord record = record_at<HandlerRecord>(unit, invocation);
  record.symbol = {std::string(arguments[0][0].text), place_of(arguments[0], unit.file)};
  set_function(arguments[1], unit.file, record);
  // Without a chain the parameters themselves say what is bound.
  const bool automatic = invocation.name.ends_with("_AUTO");
  if (!automatic && arguments.size() > 2) {
    set_binding(binding_of(arguments[2], unit, found), record);
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
  for (; scope != no_scope; scope = found.scopes[scope].parent) {
    const Scope& here = found.scopes[scope];
    const TokenRange& parameters = here.parameters;
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
void read_object(const SourceUnit& unit, const Invocations& found, const Invocation& invocation,
                 std::vector<HandlerRecord>& records) {
  if (invocation.name_token < 2 || invocation.arguments.empty()) return;
  const std::uint32_t dot = invocation.name_token - 1;
  const std::uint32_t start = start_of_expression(unit, found, dot);
  HandlerBinding binding = binding_of(Tokens(unit.tokens).subspan(start, dot - start), unit, found);
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

HandlerBinding read_binding(Tokens tokens) {
  HandlerBinding binding;
  while (tokens.size() > 2 && tokens[0].is('(') &&
         closing_bracket(tokens, 0) + 1 == tokens.size()) {
    tokens = tokens.subspan(1, tokens.size() - 2);
  }
  const std::vector<ChainLink> links = read_chain(tokens);
  const std::size_t first = links.empty() ? tokens.size() : links.front().at - 1;
  const Tokens root = tokens.first(first);
  if (!is_root(root)) return binding;
  binding.stage = stage_of(root);
  std::size_t end = first;
  for (const ChainLink& link : links) {
    std::string word = link_word(link);
    if (word.empty() || link.arguments.data() == nullptr) return binding;
    binding.spec.push_back(std::move(word));
    end =
        static_cast<std::size_t>(link.arguments.data() - tokens.data()) + link.arguments.size() + 1;
  }
  binding.whole = end == tokens.size();
  return binding;
}

std::vector<std::string> parameter_words(Tokens inside) {
  std::vector<std::string> words;
  if (inside.size() == 1 && inside[0].is("void")) return words;
  for (const Tokens parameter : split_typed(inside)) {
    if (words.size() >= most_parameters) break;
    words.push_back(parameter_word(parameter));
  }
  return words;
}

void read_handlers_cpp(const SourceUnit& unit, const Invocations& found,
                       std::vector<HandlerRecord>& records) {
  for (const Invocation& invocation : found.list) {
    if (invocation.name.starts_with("XLA_FFI_DEFINE_HANDLER")) {
      read_definition(unit, found, invocation, records);
    } else if (invocation.name == "To" && invocation.form == InvocationForm::member) {
      read_object(unit, found, invocation, records);
    }
  }
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
    if (tokens.size() < 2 || !tokens.back().is(')')) {
      handler.parameters.clear();
      return;
    }
    std::vector<std::string> words = parameter_words(Tokens(tokens).subspan(1, tokens.size() - 2));
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
