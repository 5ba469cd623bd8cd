// Sources that are cut, altered or made to hurt: the reader says what it found, and ends.

#include <doctest/doctest.h>

#include <ctime>
#include <string>

#include "tests/source_reader.h"

namespace opseal::test {
namespace {

// Whatever the input, places lie in it and indices in their lists.
void check_sound(const SourceReader& reader) {
  const std::size_t size = reader.unit.bytes.size();
  for (const Token& token : reader.unit.tokens) {
    REQUIRE(token.offset + std::size_t{token.length} <= size);
    REQUIRE(token.condition < reader.unit.conditions.size());
    REQUIRE(token.expansion < reader.unit.expansions.size());
  }
  const std::size_t tokens = reader.unit.tokens.size();
  for (const Invocation& one : reader.found.list) {
    REQUIRE(one.offset + std::size_t{one.length} <= size);
    REQUIRE(one.open < one.close);
    REQUIRE(one.close < tokens);
    REQUIRE((!one.has_body || (one.body.begin <= one.body.end && one.body.end < tokens)));
    REQUIRE((one.scope == no_scope || one.scope < reader.found.scopes.size()));
  }
  for (std::size_t at = 0; at < tokens; ++at) {
    const std::uint32_t partner = reader.found.partners[at];
    REQUIRE((partner == no_token || partner < tokens));
  }
  for (const SourceComment& comment : reader.unit.comments) {
    REQUIRE(comment.offset + std::size_t{comment.length} <= size);
    REQUIRE(comment.next_token <= tokens);
  }
}

const std::string sample = R"(#include "reg.h"
#ifdef USE_CUDA // opseal: note
#define REG(n, ...) m.impl(#n "_x", ##__VA_ARGS__, pre_##n)
#else
#define REG(n, ...) m.def(n __VA_OPT__(, __VA_ARGS__))
#endif
TORCH_LIBRARY_IMPL(ns, CUDA, m) {
  REG(relu, R"d(a)d");
  m.class_<Foo<int>>("F").def("x", [](int a) { return 'b' + 1'000; });
#if A && (B || !C) || V >= 2
  m.impl("y" "z", { a, b },
#else
  m.impl("w",
#endif
  f);
}
XLA_FFI_DEFINE_HANDLER(k, f, Ffi::Bind().Arg<B<F32, 2>>().Attr<int>("a"));
)";

const SourceReader::Files headers = {
    {"a/reg.h", "#ifndef R\n#define R\n#define NAME \"n\"\n#include \"main.cpp\"\n#endif\n"}};

// Of the processor, whoever else uses it.
double seconds_of(const std::string& text) {
  const std::clock_t start = std::clock();
  const SourceReader reader(text);
  check_sound(reader);
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

TEST_CASE("a source cut anywhere is read") {
  for (std::size_t size = 0; size <= sample.size(); ++size) {
    check_sound(SourceReader(sample.substr(0, size), headers));
    check_sound(SourceReader(sample.substr(size), headers));
  }
}

TEST_CASE("a source with any byte replaced is read") {
  const std::string bytes = std::string("()<>{}[]\"'#\\\n,.;:/*") + '\0' + '\xff';
  for (std::size_t at = 0; at < sample.size(); ++at) {
    std::string text = sample;
    text[at] = bytes[at % bytes.size()];
    check_sound(SourceReader(text, headers));
  }
}

TEST_CASE("bytes that are no text are read") {
  check_sound(SourceReader(std::string(10'000, '\0')));
  check_sound(SourceReader("TORCH_LIBRARY(a\0b, m) {}\xff\xfe\x80" + std::string(1, '\0')));
  const SourceReader reader("m.impl(\"\xff\", \xc3\xa4);\n");
  REQUIRE(reader.found.list.size() == 1);
  CHECK(text_of(reader.found.list[0].arguments[1]) == "\xc3\xa4");
}

// Each is half a megabyte or so; what grows with the square of that takes minutes.
TEST_CASE("texts that are made to be slow are not") {
  constexpr double most_seconds = 30;
  const std::string deep_names = repeated("m.def(", 60'000);
  CHECK(seconds_of(deep_names) < most_seconds);
  CHECK(seconds_of(deep_names + repeated(")", 60'000)) < most_seconds);
  CHECK(seconds_of(repeated("{", 80'000)) < most_seconds);
  CHECK(seconds_of(repeated("{", 50'000) + repeated("}", 50'000)) < most_seconds);
  CHECK(seconds_of(repeated("(", 50'000) + repeated("}", 50'000)) < most_seconds);
  CHECK(seconds_of(repeated("f(){", 80'000) + repeated("}", 80'000)) < most_seconds);
  CHECK(seconds_of(repeated("g([](){", 50'000)) < most_seconds);
  CHECK(seconds_of(repeated("template<", 80'000) + "{}") < most_seconds);
  CHECK(seconds_of(repeated("m.def<", 80'000)) < most_seconds);
  CHECK(seconds_of(repeated("#if A\n(\n#else\n(\n#endif\n", 50'000)) < most_seconds);
  CHECK(seconds_of(repeated("#define A A\n#if A\n", 50'000)) < most_seconds);
  CHECK(seconds_of(repeated("#define REG(x) m.impl(x)\nREG(a)\n#undef REG\n", 20'000)) <
        most_seconds);
  CHECK(seconds_of(repeated("/", 80'000) + repeated("\\\n", 80'000)) < most_seconds);
  CHECK(seconds_of("\"" + repeated("\\", 500'000)) < most_seconds);
  CHECK(seconds_of(repeated("R\"(", 50'000)) < most_seconds);
}

TEST_CASE("ever new macros and conditions are not slow either") {
  constexpr double most_seconds = 30;
  std::string macros;
  std::string conditions;
  std::string branches;
  for (int i = 0; i < 20'000; ++i) {
    const std::string n = std::to_string(i);
    macros += "#define M" + n + " M" + std::to_string(i + 1) + " m.impl(a)\nM" + n + "\n";
    conditions += "#if C" + n + "\nx" + n + "\n#endif\n";
    branches += "#if C" + n + "\n#define SAME(x) m.impl(x, " + n + ")\n#endif\n";
  }
  CHECK(seconds_of(macros) < most_seconds);
  CHECK(seconds_of(conditions) < most_seconds);
  CHECK(seconds_of(branches + repeated("SAME(y);\n", 1000)) < most_seconds);
  CHECK(seconds_of("m.def(\"a\"\n" + conditions + ");") < most_seconds);
}

TEST_CASE("more tokens than any file has are left out, and that is said") {
  PreprocessorLimits limits;
  limits.tokens = 1000;
  const SourceReader reader(repeated("a ", 5000), {}, limits);
  CHECK(reader.unit.tokens.size() == 1000);
  CHECK(reader.unit.truncated);
}

}  // namespace opseal::test
