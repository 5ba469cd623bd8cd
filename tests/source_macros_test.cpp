// Macros of sources: what they expand to, where what comes out was written, and under what
// conditions. What is expected of [cpp.replace] is what compilers make of the same text.

#include <doctest/doctest.h>

#include <string>

#include "tests/source_reader.h"

namespace opseal::test {
namespace {

// Expands everything: the argument of a macro that calls its parameter.
std::string expanded(const std::string& definitions, const std::string& text) {
  return SourceReader(definitions + "\n#define ALL_(f, ...) f() __VA_ARGS__\nALL_(_, " + text +
                      ")\n")
      .text()
      .substr(4);
}

}  // namespace

TEST_CASE("only macros that lead to a registration are expanded where nothing asks for it") {
  const SourceReader reader(
      "#define COLD(x) int x;\n#define REG(x) m.impl(#x, x)\n#define OUTER(x) REG(x)\n"
      "#define EACH(M) M(a) M(b)\nCOLD(a) REG(f) OUTER(g) EACH(COLD)\n");
  CHECK(reader.text() == "COLD(a) m.impl(\"f\", f) m.impl(\"g\", g) int a; int b;");
}

TEST_CASE("words that register are never expanded") {
  const SourceReader reader(
      "#define TORCH_LIBRARY(a, m) static void f_##a(Library& m); TORCH_LIBRARY_IMPL(a, b, m)\n"
      "#define TORCH_LIBRARY_EXPAND(a, m) TORCH_LIBRARY(a, m)\n"
      "TORCH_LIBRARY(x, m) {}\nTORCH_LIBRARY_EXPAND(y, m) {}\nTORCH_LIBRARY_IMPL_EXPAND(z, m) "
      "{}\n");
  CHECK(reader.text() ==
        "TORCH_LIBRARY(x, m) {} TORCH_LIBRARY(y, m) {} TORCH_LIBRARY_IMPL_EXPAND(z, m) {}");
}

TEST_CASE("arguments are made into texts and joined to names") {
  CHECK(expanded("#define S(x) #x", "S(a::b<c, d>)") == "S(a::b<c, d>)");
  CHECK(expanded("#define S(...) #__VA_ARGS__", "S(a::b<c,   d>)") == "\"a::b<c, d>\"");
  CHECK(expanded("#define S(x) #x", "S( \"a\\n\" 'b' )") == "\"\\\"a\\\\n\\\" 'b'\"");
  CHECK(expanded("#define S(x) #x", "S()") == "\"\"");
  CHECK(expanded("#define C(a, b) a##b", "C(x, y) C(1, e3) C(,z) C(w,) C(,)") == "xy 1e3 z w");
  CHECK(expanded("#define C(a, b) a ## b ## _k", "C(x, y)") == "xy_k");
  CHECK(expanded("#define X y\n#define C(a, b) a##b\n#define S(x) #x", "C(X, X) S(X)") ==
        "XX \"X\"");
  CHECK(expanded("#define X y\n#define C_(a, b) a##b\n#define C(a, b) C_(a, b)\n"
                 "#define S_(x) #x\n#define S(x) S_(x)",
                 "C(X, X) S(X)") == "yy \"y\"");
  // Not a token: both are left.
  CHECK(expanded("#define C(a, b) a##b", "C(+, x)") == "+x");
  CHECK(expanded("#define C(a) L##a", "C(\"x\")") == "L\"x\"");
}

TEST_CASE("what is left over goes with its comma or without it") {
  CHECK(expanded("#define F(a, ...) f(a, ##__VA_ARGS__)", "F(1) F(1, 2, 3)") == "f(1) f(1, 2, 3)");
  CHECK(expanded("#define F(a, rest...) f(a, ##rest)", "F(1) F(1, 2)") == "f(1) f(1, 2)");
  CHECK(expanded("#define F(a, ...) f(a __VA_OPT__(,) __VA_ARGS__)", "F(1) F(1, 2)") ==
        "f(1) f(1, 2)");
  CHECK(expanded("#define F(...) f(0 __VA_OPT__(, __VA_ARGS__, #__VA_ARGS__))", "F() F(a, b)") ==
        "f(0) f(0, a, b, \"a, b\")");
  CHECK(expanded("#define F(...) f(__VA_ARGS__)", "F() F((a, b), {c, d})") ==
        "f() f((a, b), {c, d})");
}

TEST_CASE("a macro stays what it is in its own expansion") {
  CHECK(expanded("#define A A + B\n#define B A", "A B") == "A + A A + B");
  CHECK(expanded("#define f(x) x f", "f(1)(2)") == "1 f(2)");
  CHECK(expanded("#define f(a) a*g\n#define g(a) f(a)", "f(2)(9)") == "2*9*g");
  CHECK(expanded("#define impl(...) impl(#__VA_ARGS__)", "impl(a)") == "impl(\"a\")");
}

TEST_CASE("what comes out is read again together with what follows") {
  CHECK(expanded("#define CALL(m) m\n#define F(x) <x>", "CALL(F)(a)") == "<a>");
  CHECK(expanded("#define PICK(n) F_##n\n#define F_1(x) one(x)", "PICK(1)(a)") == "one(a)");
  // A name without brackets is no use of it.
  CHECK(expanded("#define F(x) <x>", "F F + (a)") == "F F + (a)");
}

TEST_CASE("a definition with another number of parameters is not taken") {
  CHECK(expanded("#define F(a, b) a b", "F(1) F(1, 2, 3) F(1, 2)") == "F(1) F(1, 2, 3) 1 2");
  CHECK(expanded("#define F() f", "F() F(1)") == "f F(1)");
}

TEST_CASE("each use takes the definition of its place") {
  const SourceReader reader(
      "#define REG(x) m.impl(#x, one)\nREG(a)\n#undef REG\n#define REG(x) m.impl(#x, two)\n"
      "REG(b)\n#undef REG\nREG(c)\n#define REG(x) m.impl(#x, three)\n"
      "#define REG(x) m.impl(#x, four)\nREG(d)\n");
  CHECK(reader.text() == "m.impl(\"a\", one) m.impl(\"b\", two) REG(c) m.impl(\"d\", four)");
}

TEST_CASE("all definitions of the branches are taken, each with its condition") {
  const SourceReader reader(
      "#ifdef A\n#define REG(x) m.impl(#x, one)\n#elif defined(B)\n"
      "#define REG(x) m.impl(#x, two)\n#else\n#define REG(x) m.impl(#x, three)\n#endif\n"
      "REG(a);\n#ifdef A\nREG(b);\n#endif\n");
  CHECK(reader.invocations() ==
        "m.impl[\"a\"][one] if defined(A) via REG\n"
        "m.impl[\"a\"][two] if !defined(A) && defined(B) via REG\n"
        "m.impl[\"a\"][three] if !defined(A) && !defined(B) via REG\n"
        "m.impl[\"b\"][one] if defined(A) via REG\n");
}

TEST_CASE("a definition of one branch leaves the one before it to the other builds") {
  const SourceReader reader(
      "#define REG(x) m.impl(#x, one)\n#ifdef A\n#undef REG\n#define REG(x) m.impl(#x, two)\n"
      "#endif\nREG(a);\n");
  CHECK(reader.invocations() ==
        "m.impl[\"a\"][one] via REG\nm.impl[\"a\"][two] if defined(A) via REG\n");
}

TEST_CASE("a default is for builds without a definition of their own") {
  const std::string fallback = "#ifndef REG\n#define REG(x) m.impl(#x, two)\n#endif\nREG(a);\n";
  CHECK(SourceReader("#define REG(x) m.impl(#x, one)\n" + fallback).invocations() ==
        "m.impl[\"a\"][one] via REG\n");
  CHECK(
      SourceReader("#ifdef A\n#define REG(x) m.impl(#x, one)\n#endif\n" + fallback).invocations() ==
      "m.impl[\"a\"][one] if defined(A) via REG\n"
      "m.impl[\"a\"][two] if !defined(A) via REG\n");
  CHECK(SourceReader(fallback).invocations() == "m.impl[\"a\"][two] via REG\n");
}

TEST_CASE("a name that is a text in each branch gives one invocation for each") {
  const SourceReader reader(
      "#ifdef CUDA\n#define PREFIX \"cu\"\n#else\n#define PREFIX \"hip\"\n#endif\n"
      "void f() { m.def(PREFIX \"solver\", g); }\n");
  CHECK(reader.invocations() ==
        "m.def[\"cu\" \"solver\"][g] if defined(CUDA) in f()\n"
        "m.def[\"hip\" \"solver\"][g] if !defined(CUDA) in f()\n");
}

TEST_CASE("a macro that joins texts gives one, and the name of another macro stays as it is") {
  const SourceReader reader(
      "#define NAMED(n) \"pkg>\" #n\n#define JOINED(a, b) (#a #b)\n#define TEXT(n) #n\n"
      "void f() { m.def(NAMED(One), g); m.def(JOINED(A, Two), g); m.def(TEXT(NAME), g); }\n");
  CHECK(reader.invocations() ==
        "m.def[\"pkg>\" \"One\"][g] in f()\n"
        "m.def[(\"A\" \"Two\")][g] in f()\n"
        "m.def[TEXT(NAME)][g] in f()\n");
}

TEST_CASE("each token knows the outermost use it comes from, and arguments their own place") {
  const SourceReader reader(
      "#define INNER(n, f) m.impl(#n \"_x\", pre_##f)\n#define OUTER(n) INNER(n, n)\n"
      "x; OUTER( relu );\n");
  REQUIRE(reader.found.list.size() == 1);
  const Invocation& one = reader.found.list[0];
  CHECK(one.through_macro == "OUTER");
  CHECK(reader.at(one.offset, one.length) == "OUTER( relu )");
  const Token& name = one.arguments[0][0];
  CHECK(name.text == "\"relu\"");
  CHECK(reader.at(name.offset, name.length) == "relu");
  const Token& suffix = one.arguments[0][1];
  CHECK(suffix.text == "\"_x\"");
  CHECK(reader.at(suffix.offset, suffix.length) == "OUTER( relu )");
  const Token& function = one.arguments[1][0];
  CHECK(function.text == "pre_relu");
  CHECK(reader.at(function.offset, function.length) == "relu");
  const MacroExpansion& expansion = reader.unit.expansions[name.expansion];
  REQUIRE(expansion.definition != nullptr);
  CHECK(reader.at(expansion.definition->offset, expansion.definition->length) == "OUTER");
}

TEST_CASE("an argument that is a text keeps its place over several lines") {
  const SourceReader reader("#define DEF(s) m.def(s)\nDEF(\n  \"a(Tensor x)\"\n  \" -> ()\"\n);\n");
  REQUIRE(reader.found.list.size() == 1);
  const Invocation& one = reader.found.list[0];
  REQUIRE(one.arguments.size() == 1);
  CHECK(string_value(one.arguments[0]) == "a(Tensor x) -> ()");
  const Token& first = one.arguments[0][0];
  CHECK(reader.at(first.offset, first.length) == "\"a(Tensor x)\"");
}

TEST_CASE("the types of TensorFlow's lists are known without its headers") {
  const SourceReader reader(
      "#define REGISTER(T) REGISTER_KERNEL_BUILDER(Name(\"A\").TypeConstraint<T>(\"T\"), Op<T>);\n"
      "TF_CALL_FLOAT_TYPES(REGISTER)\n#undef REGISTER\n");
  REQUIRE(reader.found.list.size() == 4);
  CHECK(text_of(reader.found.list[0].arguments[1]) == "Op<Eigen::half>");
  CHECK(reader.found.list[3].through_macro == "TF_CALL_FLOAT_TYPES");
}

TEST_CASE("a bomb of macros ends at the limit") {
  std::string bomb = "#define A0 m.impl(\"x\", f);\n";
  for (int i = 1; i < 40; ++i) {
    const std::string before = "A" + std::to_string(i - 1);
    bomb += "#define A" + std::to_string(i) + " " + before + " " + before + "\n";
  }
  PreprocessorLimits limits;
  limits.expansion_steps = 100'000;
  const SourceReader reader(bomb + "A39\nlast\n", {}, limits);
  CHECK(reader.unit.truncated);
  CHECK(reader.unit.tokens.size() < 200'000);
  CHECK(reader.unit.tokens.back().text == "last");
}

TEST_CASE("branches that multiply end at the limit") {
  std::string text;
  for (int i = 0; i < 16; ++i) {
    const std::string n = std::to_string(i);
    const std::string next = i == 15 ? "m.impl(\"x\", f)" : "A" + std::to_string(i + 1);
    text += "#ifdef C" + n + "\n#define A" + n + " a" + n + " " + next + "\n#else\n#define A" + n +
            " b" + n + " " + next + "\n#endif\n";
  }
  PreprocessorLimits limits;
  limits.expansion_steps = 20'000;
  CHECK(SourceReader(text + "A0\n", {}, limits).unit.truncated);
}

TEST_CASE("texts that double, arguments that nest and brackets without an end do no harm") {
  std::string deep = "#define F(x) x.impl(x)\n";
  for (int i = 0; i < 20'000; ++i) deep += "F(";
  CHECK_FALSE(SourceReader(deep).unit.tokens.empty());
  const SourceReader closed("#define F(x) m.impl(x)\n" + [] {
    std::string text;
    for (int i = 0; i < 2000; ++i) text += "F(";
    return text + std::string(2000, ')');
  }());
  CHECK(closed.unit.truncated);
  std::string doubling = "#define S_(x) #x\n#define S(x) S_(x)\n#define C(a) m.impl(a##a)\n";
  std::string use = "\"\\\"\"";
  for (int i = 0; i < 60; ++i) use = "S(" + use + ")";
  CHECK_FALSE(
      SourceReader(doubling + "#define R(x) m.impl(x)\nR(" + use + ")\n").unit.tokens.empty());
}

}  // namespace opseal::test
