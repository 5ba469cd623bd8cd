// `[macros]` of `opseal.toml`.

#include <doctest/doctest.h>

#include <string>

#include "cli/audit.h"
#include "cli/config.h"
#include "cli/settings.h"
#include "tests/support.h"
#include "tests/tree.h"

namespace opseal::test {
namespace {

std::string complaint(Tree& tree, const std::string& text) {
  tree.add("opseal.toml", text);
  try {
    read_config("opseal.toml");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("macros that the configuration explains are read in sources") {
  Tree tree;
  tree.add("opseal.toml",
           "[macros]\n\"MY_DEF(text)\" = '''TORCH_LIBRARY(demo, m) {\n  m.def(text); }'''\n");
  tree.add("csrc/ops.cpp",
           "MY_DEF(\"scale(Tensor x) -> Tensor\")\n"
           "TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl(\"skale\", &scale); }\n");
  Options options;
  options.paths = {"csrc"};
  options.select = {"impl-without-def"};
  const Audit audit = run_audit(options);
  REQUIRE(audit.findings.size() == 1);
  CHECK(audit.findings.front().fix.find("`demo::scale`") != std::string::npos);
}

TEST_CASE("what is no macro is a mistake with its place") {
  Tree tree;
  CHECK(complaint(tree, "[macros]\nA = 'B'\n\"F(x, ...)\" = 'x'\n") == "none");
  CHECK(complaint(tree, "[macros]\n\"F x\" = 'x'\n") ==
        "opseal.toml:2:1: `F x` is no macro, expected `NAME` or `NAME(parameters)`");
  CHECK(complaint(tree, "[macros]\n\"1F\" = 'x'\n").find("is no macro") != std::string::npos);
  CHECK(complaint(tree, "[macros]\n\"F(x)\\n#define G\" = 'x'\n").find("is no macro") !=
        std::string::npos);
  CHECK(complaint(tree, "[macros]\nF = 1\n") == "opseal.toml:2:5: `F` is a text");
  CHECK(complaint(tree, "macros = 1\n") ==
        "opseal.toml:1:10: `macros` is a table of macro = what it means");
}

}  // namespace opseal::test
