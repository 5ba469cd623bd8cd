// What sources say of code for devices.

#include <doctest/doctest.h>

#include <string>

#include "analyzers/source/without_macro.h"
#include "rules/arch_guards.h"
#include "rules/guarded_kernels.h"

namespace opseal::test {
namespace {

// `yes`, `no` or `?`, and `, compares` where the macro is compared with something.
std::string on_host(const std::string& condition) {
  TextArena arena;
  Lexer lexer(condition, arena);
  std::vector<Token> tokens;
  for (Token token; lexer.next(token);) tokens.push_back(token);
  const WithoutMacro said = without_macro(tokens, "ARCH");
  const std::string truth = !said.truth ? "?" : *said.truth ? "yes" : "no";
  return truth + (said.compares ? ", compares" : "");
}

}  // namespace

TEST_CASE("a macro without a definition counts as 0 in a condition") {
  CHECK(on_host("ARCH >= 800") == "no, compares");
  CHECK(on_host("(ARCH) >= (800)") == "no, compares");
  CHECK(on_host("ARCH < 750") == "yes, compares");
  CHECK(on_host("750 > ARCH") == "yes, compares");
  CHECK(on_host("ARCH != 0") == "no, compares");
  CHECK(on_host("defined(ARCH)") == "no");
  CHECK(on_host("!defined ARCH") == "yes");
  CHECK(on_host("defined(ARCH) && ARCH < 900") == "no, compares");
  CHECK(on_host("!(ARCH >= 900UL)") == "yes, compares");
}

TEST_CASE("what hangs on other macros is known only where they don't matter") {
  CHECK(on_host("OTHER && ARCH >= 800") == "no, compares");
  CHECK(on_host("OTHER || ARCH >= 800") == "?, compares");
  CHECK(on_host("ARCH >= OTHER") == "?, compares");
  CHECK(on_host("OTHER || ARCH < 800") == "yes, compares");
  CHECK(on_host("ARCH / 10 >= 80") == "?");
  CHECK(on_host("AT_LEAST(800) && ARCH >= 800") == "?");
  CHECK(on_host("ARCH >=") == "?, compares");
  CHECK(on_host("") == "?");
}

TEST_CASE("a condition of a thousand brackets is not known, and soon") {
  const std::string deep(100000, '(');
  CHECK(on_host(deep + "ARCH >= 800") == "?");
  std::string ladder;
  for (int at = 0; at < 30; ++at) ladder += "(A || ";
  CHECK(on_host(ladder + "ARCH >= 800" + std::string(30, ')')) == "?, compares");
}

TEST_CASE("a guard fails on a device where its comparisons do") {
  CHECK(guard_fails("__CUDA_ARCH__ >= 800", 750));
  CHECK(!guard_fails("__CUDA_ARCH__ >= 800", 800));
  CHECK(guard_fails("defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900", 800));
  CHECK(guard_fails("defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900", 800));
  CHECK(guard_fails("__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1000", 1000));
  CHECK(!guard_fails("__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1000", 900));
  CHECK(guard_fails("__CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000", 800));
  CHECK(!guard_fails("__CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000", 900));
}

TEST_CASE("a guard that hangs on more fails on no device for sure") {
  CHECK(!guard_fails("", 750));
  CHECK(!guard_fails("defined(WITH_ALL)", 750));
  CHECK(!guard_fails("__CUDA_ARCH__ >= LEAST", 750));
  CHECK(!guard_fails("__CUDA_ARCH__ / 10 >= 80", 750));
  CHECK(!guard_fails("!(__CUDA_ARCH__ >= 800)", 750));
  CHECK(!guard_fails("__CUDA_ARCH__ >= 800) && (0", 750));
  CHECK(!guard_fails("defined(WITH_ALL) || __CUDA_ARCH__ >= 800", 750));
  CHECK(!guard_fails("__CUDA_ARCH__ >= 900 || (ALL && __CUDA_ARCH__ >= 800)", 860));
  CHECK(guard_fails("__CUDA_ARCH__ >= 900 || (ALL && __CUDA_ARCH__ >= 800)", 750));
}

TEST_CASE("a guard below all that compilers make code for takes nothing away") {
  for (const char* guard :
       {"__CUDA_ARCH__ >= 350", "(__CUDA_ARCH__ >= 300)", "__CUDA_ARCH__ > 0", "__CUDA_ARCH__",
        "defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 350",
        "(defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 350)) || defined(USE_ROCM)",
        "__CUDA_ARCH__ >= 500UL", "350 <= __CUDA_ARCH__", "!(__CUDA_ARCH__ < 350)",
        "__CUDA_ARCH__ >= 300 || defined(__HIP_PLATFORM_AMD__)"}) {
    CHECK_MESSAGE(holds_on_all_architectures(guard), guard);
  }
  for (const char* guard :
       {"__CUDA_ARCH__ >= 530", "__CUDA_ARCH__ >= LEAST", "__CUDA_ARCH__ < 900",
        "(__CUDA_ARCH__ >= 800) || defined(USE_ROCM)", "__CUDA_ARCH__ == 900", "WITH_ALL",
        "__CUDA_ARCH__ >= 300 && __CUDA_ARCH__ < 1000", "__CUDA_ARCH__ / 10 >= 30", ""}) {
    CHECK_MESSAGE(!holds_on_all_architectures(guard), guard);
  }
  CHECK(guard_fails("(__CUDA_ARCH__ >= 800) || defined(USE_ROCM)", 750));
}

TEST_CASE("a guard of a hundred thousand brackets fails nowhere, and soon") {
  CHECK(!guard_fails(std::string(100000, '(') + "__CUDA_ARCH__ >= 800", 750));
  CHECK(!guard_fails(std::string(100000, '!') + "__CUDA_ARCH__", 750));
}

}  // namespace opseal::test
