#include "analyzers/source/header.h"

#include <utility>

namespace opseal {
namespace {

class HeaderReader {
 public:
  HeaderReader(FileId file, const Vocabulary& vocabulary,
               const std::function<FileId(std::string_view)>& resolve, Header& header)
      : file_(file),
        vocabulary_(vocabulary),
        resolve_(resolve),
        header_(header),
        conditionals_(header.conditions) {}

  void read() {
    Lexer lexer(header_.bytes, header_.arena);
    Token token;
    std::vector<Token> tokens;
    while (lexer.next_directive(token)) {
      tokens.clear();
      while (lexer.next(token) && token.kind != TokenKind::end_of_directive)
        tokens.push_back(token);
      if (!tokens.empty() && tokens[0].is_identifier()) {
        read_directive(tokens[0].text, Tokens(tokens).subspan(1));
      }
    }
  }

 private:
  void read_directive(std::string_view word, Tokens tokens) {
    if (conditionals_.read(word, tokens) || conditionals_.dead()) return;
    if (word == "define") {
      define(tokens);
    } else if (word == "undef" && !tokens.empty()) {
      HeaderDirective directive;
      directive.kind = DirectiveKind::undefine;
      directive.name = tokens[0].text;
      directive.name_hash = tokens[0].hash;
      add(directive);
    } else if (word == "include" || word == "include_next") {
      HeaderDirective directive;
      directive.kind = DirectiveKind::include;
      directive.index = resolve_(included_name(tokens, header_.bytes));
      if (directive.index != no_file) add(directive);
    }
  }

  void define(Tokens tokens) {
    MacroDefinition definition;
    definition.file = file_;
    if (!read_definition(tokens, vocabulary_, definition)) return;
    HeaderDirective directive;
    directive.unless_defined = conditionals_.defines(definition.name);
    directive.index = static_cast<std::uint32_t>(header_.definitions.size());
    header_.definitions.push_back(std::move(definition));
    add(directive);
  }

  void add(HeaderDirective directive) {
    directive.condition = conditionals_.current();
    header_.directives.push_back(directive);
  }

  FileId file_;
  const Vocabulary& vocabulary_;
  const std::function<FileId(std::string_view)>& resolve_;
  Header& header_;
  Conditionals conditionals_;
};

}  // namespace

std::string_view included_name(Tokens tokens, std::string_view bytes) {
  if (tokens.empty()) return {};
  if (tokens[0].is_string()) {
    const std::string_view text = tokens[0].text;
    const std::size_t end = text.find('"', 1);
    return text[0] == '"' && end != text.npos ? text.substr(1, end - 1) : std::string_view();
  }
  if (!tokens[0].is('<')) return {};
  for (const Token& token : tokens) {
    if (!token.is('>')) continue;
    const std::size_t start = tokens[0].offset + 1;
    return bytes.substr(start, token.offset - start);
  }
  return {};
}

void read_header(std::string bytes, FileId file, const Vocabulary& vocabulary,
                 const std::function<FileId(std::string_view)>& resolve, Header& header) {
  header.bytes = std::move(bytes);
  HeaderReader(file, vocabulary, resolve, header).read();
}

}  // namespace opseal
