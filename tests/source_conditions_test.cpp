// Conditions of builds: how they read, which exclude each other.

#include <doctest/doctest.h>

#include <string>

#include "opseal/build_condition.h"
#include "tests/source_reader.h"

namespace opseal::test {
namespace {

BuildCondition of(std::string_view text) { return BuildCondition::of(text); }
std::string normal(std::string_view text) { return of(text).text(); }

}  // namespace

TEST_CASE("conditions that say the same read the same") {
  CHECK(normal("defined USE_ROCM") == "defined(USE_ROCM)");
  CHECK(normal("defined( USE_ROCM )&&!X") == "defined(USE_ROCM) && !X");
  CHECK(normal("!(A || B)") == "!A && !B");
  CHECK(normal("!(A && !B)") == "!A || B");
  CHECK(normal("(A||B)&&C") == "(A || B) && C");
  CHECK(normal("A && (A)") == "A");
  CHECK(normal("CUDA_VERSION>=12000") == "CUDA_VERSION >= 12000");
  CHECK(normal("!(CUDA_VERSION < 12000)") == "CUDA_VERSION >= 12000");
  CHECK(normal("!(V == 2)") == "V != 2");
  CHECK(normal("__has_include(<a/b.h>)") == "__has_include(< a / b.h >)");
  CHECK(normal("F(a, b < 2) > 3") == "F(a, b < 2) > 3");
  CHECK(normal("!(A + 1)") == "!(A + 1)");
  CHECK(normal("1").empty());
  CHECK(normal("0") == "0");
  CHECK(normal("!0").empty());
  CHECK(normal("A || 0") == "A");
  CHECK(normal("A ? B : C") == "A ? B : C");
}

TEST_CASE("a condition reads its own text as itself") {
  for (const std::string_view text :
       {"defined(A) && !B", "(A || !B) && C", "V < 2", "V != 3 || defined(X)", "!F(x)", "0",
        "!(A + 1)", "(A + 1) >= 2", "!(A ? B : C)", "__has_include(<a>)"}) {
    INFO(std::string(text));
    CHECK(normal(normal(text)) == normal(text));
    CHECK(of(normal(text)) == of(text));
  }
}

TEST_CASE("conditions exclude each other where their words contradict") {
  CHECK(of("defined(A)").excludes(of("!defined(A)")));
  CHECK(of("A && B").excludes(of("!(A && B)")));
  CHECK(of("A && B").excludes(of("!A || !B")));
  CHECK(of("V < 2").excludes(of("V >= 2")));
  CHECK(of("(A || B) && !A").excludes(of("!B")));
  CHECK_FALSE(of("A").excludes(of("!B")));
  CHECK_FALSE(of("V < 2").excludes(of("V >= 3")));
  CHECK_FALSE(of("A || B").excludes(of("!A")));
  CHECK(of("0").never());
  CHECK(of("A && !A").never());
  CHECK_FALSE(of("A").never());
}

TEST_CASE("conditions imply what they say") {
  CHECK(of("A && B").implies(of("A")));
  CHECK(of("A").implies(of("A || B")));
  CHECK(of("A").implies(of("")) == false);
  CHECK(of("A").implies(BuildCondition()));
  CHECK_FALSE(BuildCondition().implies(of("A")));
  CHECK(of("0").implies(of("A")));
}

TEST_CASE("what is too large to take apart is one word") {
  std::string wide = "A0 && B0";
  for (int i = 1; i < 40; ++i) {
    wide += " || A" + std::to_string(i) + " && B" + std::to_string(i);
  }
  CHECK(of(wide).size() == 1);
  CHECK(of(wide).excludes(!of(wide)));
  const std::string deep = std::string(3000, '(') + "A" + std::string(3000, ')');
  CHECK_FALSE(of(deep).always());
  CHECK_FALSE(of(std::string(5000, '!')).always());
  CHECK_FALSE(of(std::string(100'000, 'x')).always());
  for (const std::string_view odd :
       {"", "&&", "(", ")", "A &&", "!", "defined", "defined(", "A B"}) {
    CHECK_FALSE(of(odd).never());
  }
}

TEST_CASE("each branch of a conditional has its condition") {
  const SourceReader reader(
      "#if A\na\n#elif B\nb\n#if C\nbc\n#endif\n#else\nc\n#endif\nd\n"
      "#ifdef X\ne\n#else // X\nf\n#endif\n#if 0\ng\n#else\nh\n#endif\n");
  CHECK(reader.condition_of("a") == "A");
  CHECK(reader.condition_of("b") == "!A && B");
  CHECK(reader.condition_of("bc") == "!A && B && C");
  CHECK(reader.condition_of("c") == "!A && !B");
  CHECK(reader.condition_of("d").empty());
  CHECK(reader.condition_of("e") == "defined(X)");
  CHECK(reader.condition_of("f") == "!defined(X)");
  CHECK(reader.condition_of("g") == "no such token");
  CHECK(reader.condition_of("h").empty());
}

TEST_CASE("the guard of a header and a default are no conditions") {
  const SourceReader reader("#ifndef A_H\n#define A_H\na\n#ifdef B\nb\n#endif\n#endif\n");
  CHECK(reader.condition_of("a").empty());
  CHECK(reader.condition_of("b") == "defined(B)");
  const SourceReader other("#if !defined(A_H)\n#define A_H\na\n#endif\n");
  CHECK(other.condition_of("a").empty());
  const SourceReader no_guard("#ifndef A\n#define B\na\n#endif\n");
  CHECK(no_guard.condition_of("a") == "!defined(A)");
}

TEST_CASE("conditionals without an end, without a start, and nested deeply do no harm") {
  CHECK(SourceReader("#endif\n#else\n#elif\nx\n").text() == "x");
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += "#if A" + std::to_string(i) + "\n";
  const SourceReader reader(deep + "x\n");
  CHECK(reader.text() == "x");
  std::string wide = "#if A\n";
  for (int i = 0; i < 5000; ++i) wide += "#elif A" + std::to_string(i) + "\nx\n";
  CHECK(SourceReader(wide).unit.tokens.size() == 5000);
}

}  // namespace opseal::test
