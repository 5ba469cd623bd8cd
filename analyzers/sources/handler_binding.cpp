#include "analyzers/sources/handler_binding.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "analyzers/source/invocations.h"
#include "analyzers/sources/cpp_function.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Parameters of one function; nobody has more.
constexpr std::size_t most_parameters = 256;

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

}  // namespace opseal
