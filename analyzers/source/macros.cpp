#include "analyzers/source/macros.h"

#include <algorithm>

namespace opseal {
namespace {

// Compilers need not take more than 256 ([implimits]).
constexpr std::size_t most_parameters = 256;

bool contains(std::span<const std::string_view> list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// Reads the list of parameters from its opening bracket on; the index behind it, or 0.
std::size_t read_parameters(Tokens tokens, std::size_t at, MacroDefinition& definition) {
  for (++at; at < tokens.size() && definition.parameters.size() <= most_parameters; ++at) {
    const Token& token = tokens[at];
    if (token.is(')')) return at + 1;
    if (token.is_identifier()) {
      definition.parameters.push_back(token.text);
    } else if (token.is("...")) {
      // GNU's `name...` names what is left over.
      const bool is_named = at > 0 && tokens[at - 1].is_identifier();
      if (!is_named) definition.parameters.emplace_back("__VA_ARGS__");
      definition.variadic = true;
    } else if (!token.is(',')) {
      return 0;
    }
  }
  return 0;
}

// `"pkg>" #NAME`, `(#A #B)`: one text made of several. What `#NAME` alone gives is as often a name
// that another macro stands for.
bool joins_texts(const MacroDefinition& definition) {
  Tokens body(definition.body);
  if (body.size() > 2 && body.front().is('(') && body.back().is(')')) {
    body = body.subspan(1, body.size() - 2);
  }
  std::size_t parts = 0;
  for (std::size_t i = 0; i < body.size(); ++i, ++parts) {
    if (body[i].is_string()) continue;
    if (!body[i].is('#') || i + 1 == body.size() || body[i + 1].expansion == 0) return false;
    ++i;
  }
  return definition.function_like && parts > 1;
}

void describe_body(const Vocabulary& vocabulary, MacroDefinition& definition) {
  std::vector<Token>& body = definition.body;
  bool has_text = false;
  bool only_text = !definition.function_like;
  for (std::size_t i = 0; i < body.size(); ++i) {
    Token& token = body[i];
    has_text = has_text || token.is_string();
    only_text = only_text && (token.is_string() || token.is_identifier());
    if (!token.is_identifier()) continue;
    const bool is_called = i + 1 < body.size() && body[i + 1].is('(');
    const auto parameter =
        std::find(definition.parameters.begin(), definition.parameters.end(), token.text);
    definition.leads_on = definition.leads_on || parameter == definition.parameters.end();
    if (parameter != definition.parameters.end()) {
      token.expansion = static_cast<std::uint32_t>(parameter - definition.parameters.begin()) + 1;
      definition.calls_parameter =
          definition.calls_parameter || (is_called && token.text != "__VA_ARGS__");
    } else if (vocabulary.find(token.text) != nullptr) {
      definition.has_seed = true;
    }
    const bool is_member = i > 0 && (body[i - 1].is('.') || body[i - 1].is("->"));
    const bool is_template = i + 1 < body.size() && body[i + 1].is('<');
    if ((is_called || is_template) && is_member && contains(vocabulary.seed_members, token.text)) {
      definition.has_seed = true;
    }
  }
  const bool gives_argument =
      definition.function_like && body.size() == 1 && body[0].expansion != 0;
  definition.is_text = (only_text && has_text) || gives_argument || joins_texts(definition);
  definition.leads_on = definition.leads_on || definition.calls_parameter || definition.is_text;
}

}  // namespace

bool read_definition(Tokens tokens, const Vocabulary& vocabulary, MacroDefinition& definition) {
  if (tokens.empty() || !tokens[0].is_identifier()) return false;
  definition.name = tokens[0].text;
  definition.name_hash = tokens[0].hash;
  definition.offset = tokens[0].offset;
  definition.length = tokens[0].length;
  std::size_t start = 1;
  if (tokens.size() > 1 && tokens[1].is('(') && !tokens[1].space_before) {
    definition.function_like = true;
    start = read_parameters(tokens, 1, definition);
    if (start == 0) return false;
  }
  definition.body.assign(tokens.begin() + static_cast<std::ptrdiff_t>(start), tokens.end());
  describe_body(vocabulary, definition);
  const VocabularyWord* word = vocabulary.find(definition.name);
  definition.is_terminal = word != nullptr && word->use == WordUse::terminal;
  return true;
}

}  // namespace opseal
