// Tokens of C++ sources and their places.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "analyzers/source/branches.h"
#include "analyzers/source/plain_source.h"
#include "analyzers/source/tokens.h"
#include "tests/source_reader.h"

namespace opseal::test {
namespace {

// Each token on a line of its own, with `kind@offset+length`.
std::string tokens_of(std::string_view text) {
  TextArena arena;
  Lexer lexer(text, arena);
  std::string lines;
  for (Token token; lexer.next(token);) {
    const char kinds[] = {'i', 'n', 's', 'c', 'p', '#', 'e'};
    lines += kinds[static_cast<std::size_t>(token.kind)];
    lines += "@" + std::to_string(token.offset) + "+" + std::to_string(token.length) + " " +
             std::string(token.text) + "\n";
  }
  return lines;
}

std::string line_of(std::string_view text) {
  TextArena arena;
  Lexer lexer(text, arena);
  std::vector<Token> tokens;
  for (Token token; lexer.next(token);) tokens.push_back(token);
  return text_of(tokens);
}

std::string value_of(std::string_view text, bool* only = nullptr) {
  TextArena arena;
  Lexer lexer(text, arena);
  std::vector<Token> tokens;
  for (Token token; lexer.next(token);) tokens.push_back(token);
  return string_value(tokens, only);
}

std::string directives_of(std::string_view text) {
  TextArena arena;
  Lexer lexer(text, arena);
  std::string words;
  Token token;
  while (lexer.next_directive(token)) {
    while (lexer.next(token) && token.kind != TokenKind::end_of_directive) {
      words += std::string(token.text) + " ";
    }
    words += "/ ";
  }
  return words;
}

}  // namespace

TEST_CASE("each token has its kind and place") {
  CHECK(tokens_of("m.impl(\"x\", &f);") ==
        "i@0+1 m\np@1+1 .\ni@2+4 impl\np@6+1 (\ns@7+3 \"x\"\np@10+1 ,\np@12+1 &\ni@13+1 f\n"
        "p@14+1 )\np@15+1 ;\n");
  CHECK(tokens_of("1'000 0x1p-3 .5 1e+5f 'a' u8'b'") ==
        "n@0+5 1'000\nn@6+6 0x1p-3\nn@13+2 .5\nn@16+5 1e+5f\nc@22+3 'a'\nc@26+5 u8'b'\n");
  CHECK(tokens_of("a::b->c...k<<<1, 2>>>(x)") ==
        "i@0+1 a\np@1+2 ::\ni@3+1 b\np@4+2 ->\ni@6+1 c\np@7+3 ...\ni@10+1 k\np@11+3 <<<\n"
        "n@14+1 1\np@15+1 ,\nn@17+1 2\np@18+1 >\np@19+1 >\np@20+1 >\np@21+1 (\ni@22+1 x\n"
        "p@23+1 )\n");
}

TEST_CASE("a directive begins at the start of a line and ends with it") {
  CHECK(tokens_of("  # define A\\\r\n B // c\nx # y") ==
        "#@2+1 #\ni@4+6 define\ni@11+1 A\ni@16+1 B\ne@22+0 \ni@23+1 x\np@25+1 #\ni@27+1 y\n");
}

TEST_CASE(
    "line splices vanish from names, numbers, strings and comments, and count for the length") {
  CHECK(tokens_of("TORCH_\\\nLIB x") == "i@0+11 TORCH_LIB\ni@12+1 x\n");
  CHECK(tokens_of("TORCH_\\\r\nLIB x") == "i@0+12 TORCH_LIB\ni@13+1 x\n");
  CHECK(tokens_of("TORCH_\\  \nLIB") == "i@0+13 TORCH_LIB\n");
  CHECK(tokens_of("\"a\\\nb\" 1\\\n2") == "s@0+6 \"ab\"\nn@7+4 12\n");
  CHECK(tokens_of("// a \\\n still a comment\nx") == "i@24+1 x\n");
  CHECK(tokens_of("// a \\\r\n still a comment\r\nx") == "i@26+1 x\n");
  // A splice behind a name is no part of it.
  CHECK(tokens_of("a\\\n b") == "i@0+1 a\ni@4+1 b\n");
}

TEST_CASE("raw strings keep everything, also what looks like a directive, a splice or an end") {
  const std::string raw = "R\"x(\n#define A \\\n )\" \" )x\"";
  CHECK(tokens_of(raw + " y") == "s@0+" + std::to_string(raw.size()) + " " + raw + "\ni@" +
                                     std::to_string(raw.size() + 1) + "+1 y\n");
  CHECK(value_of(raw) == "\n#define A \\\n )\" \" ");
  CHECK(directives_of(raw + "\n#undef B\n") == "undef B / ");
  CHECK(value_of("u8R\"(a)\" LR\"(b)\"") == "ab");
  // No delimiter may have a blank.
  CHECK(line_of("R\"a b(c)\"") == "R\"a b(c)\"");
  CHECK(tokens_of("R\"a b\" x") == "i@0+1 R\ns@1+5 \"a b\"\ni@7+1 x\n");
}

TEST_CASE("of a table of bytes the beginning is kept, and what stands behind it") {
  std::string text = "const unsigned char cubin[] = {";
  for (int at = 0; at < 100000; ++at) text += "0x7f, ";
  text += "0};\nvoid f(int n);\n";
  PlainSource plain;
  read_plain(0, text, plain);
  CHECK(plain.unit.tokens.size() < 1000);
  CHECK(plain.unit.tokens.back().is(';'));
  CHECK(plain.shape.scopes.size() <= 1);
  TextArena arena;
  std::vector<Token> tokens;
  std::vector<SourceComment> comments;
  read_branches(text, arena, tokens, comments, {});
  CHECK(tokens.size() < 1000);
  CHECK(tokens[tokens.size() - 3].is("n"));
  const test::SourceReader reader(text);
  CHECK(reader.unit.tokens.size() < 1000);
  CHECK(reader.text().ends_with("void f(int n);"));
}

TEST_CASE("adjacent literals are one value, with escapes read") {
  bool only = false;
  CHECK(value_of("\"a(\" \"Tensor x\" R\"()->())\"", &only) == "a(Tensor x)->()");
  CHECK(only);
  CHECK(value_of("\"a\\\"b\\n\\x41\\101\\u00e9\\\\\"") == "a\"b\nAA\xc3\xa9\\");
  CHECK(value_of("PREFIX \"a\"", &only) == "a");
  CHECK_FALSE(only);
  CHECK(value_of("", &only).empty());
  CHECK_FALSE(only);
}

TEST_CASE("directives are found without the tokens between them") {
  CHECK(directives_of("int a; // x\n#if A\n'#' \"\\\n#no\"\n/* \n#no */ #yes B\n#endif") ==
        "if A / yes B / endif / ");
  CHECK(directives_of("x = 1'000'000;\n#a\nchar c = '\"';\n#b\n") == "a / b / ");
  CHECK(directives_of("x \\\n#no\n#yes\n") == "yes / ");
  CHECK(directives_of("auto h = 0xFF'FF /* \n#no\n*/;\n#yes\n") == "yes / ");
}

TEST_CASE("comments that speak to a tool are kept") {
  const std::string text =
      "// opseal: predicate(cuda)\nint f();\n/* @BE name */ // nothing\n// opseal: a \\\n b\n";
  TextArena arena;
  Lexer lexer(text, arena);
  constexpr std::string_view marks[] = {"opseal:", "@BE"};
  std::vector<SourceComment> comments;
  lexer.keep_comments(marks, comments);
  for (Token token; lexer.next(token);) {
  }
  REQUIRE(comments.size() == 3);
  CHECK(comments[0].text == "opseal: predicate(cuda)");
  CHECK(comments[0].offset == 0);
  CHECK(comments[0].length == 26);
  CHECK(comments[1].text == "@BE name");
  CHECK(comments[2].text == "opseal: a \\\n b");
}

TEST_CASE("what has no end reaches to the end of the line or of the file") {
  CHECK(tokens_of("\"a\nb") == "s@0+2 \"a\ni@3+1 b\n");
  CHECK(tokens_of("/* a\nb").empty());
  CHECK(tokens_of("R\"(a\nb") == "s@0+6 R\"(a\nb\n");
  CHECK(value_of("R\"(a") == "a");
  CHECK(tokens_of("\"a\\") == "s@0+3 \"a\\\n");
  CHECK(value_of("\"\\x") == std::string(1, '\0'));
}

TEST_CASE("any bytes give tokens that lie in the text one behind the other") {
  std::string text;
  for (unsigned i = 0; i < 4096; ++i) text += static_cast<char>(i * 2654435761U >> 13);
  for (std::size_t cut = 0; cut < text.size(); cut += 7) {
    TextArena arena;
    const std::string_view rest = std::string_view(text).substr(cut);
    Lexer lexer(rest, arena);
    std::uint64_t end = 0;
    for (Token token; lexer.next(token);) {
      REQUIRE(token.offset >= end);
      end = token.offset + std::uint64_t{token.length};
      REQUIRE(end <= rest.size());
    }
  }
}

}  // namespace opseal::test
