// `[macros]` of `opseal.toml`.

#include <doctest/doctest.h>

#include <string>

#include "cli/audit.h"
#include "tests/config_complaint.h"
#include "tests/tree.h"

namespace opseal::test {

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

namespace {

// What is told of the configuration when everything in `csrc` is read.
std::string told(Tree& tree, const std::string& macros, const std::string& source,
                 const std::string& path = "csrc") {
  tree.add("opseal.toml", "[macros]\n" + macros);
  tree.add("csrc/ops.cpp", source);
  Options options;
  options.paths = {path};
  const Audit audit = run_audit(options);
  CHECK(audit.complete);
  std::string out;
  for (const Problem& problem : audit.facts.problems) {
    const std::string& file = audit.facts.files[problem.where.file].path;
    if (!file.ends_with("opseal.toml")) continue;
    out += std::to_string(problem.where.offset) + ": " + problem.message;
    if (problem.related.known()) {
      out += " [" + audit.facts.files[problem.related.file].path + ' ' +
             std::to_string(problem.related.offset) + ']';
    }
  }
  return out;
}

}  // namespace

TEST_CASE("a macro of the configuration that nothing uses, or with other arguments, is told") {
  Tree tree;
  const std::string block = "TORCH_LIBRARY(demo, m) { m.def(\"norm(Tensor x) -> Tensor\"); }\n";
  const std::string entry =
      "\"MY_DEF(text)\" = 'TORCH_LIBRARY_FRAGMENT(demo, m) { m.def(text); }'\n";
  CHECK(told(tree, entry, block + "MY_DEF(\"scale(Tensor x) -> Tensor\")\n") == "");
  CHECK(told(tree, entry, block) ==
        "9: `macros`: `MY_DEF(text)` is used in none of the sources that may register something");
  CHECK(told(tree, entry, block + "MY_DEF(\"scale\", (a, b))\n") ==
        "9: `macros`: `MY_DEF(text)` is used with 2 arguments, and stands for nothing there "
        "[csrc/ops.cpp 62]");
  // Also where it is used within another one, and where it registers nothing itself.
  CHECK(told(tree, entry,
             block + "#define BOTH(x) MY_DEF(x)\nBOTH(\"scale(Tensor x) -> Tensor\")\n") == "");
  CHECK(told(tree, "MY_EXPORT = ''\n", block + "MY_EXPORT int answer();\n") == "");
  // Of single files nobody expects every macro.
  CHECK(told(tree, entry, block, "csrc/ops.cpp") == "");
  CHECK(told(tree, entry, block + "MY_DEF(1, 2, 3)\n", "csrc/ops.cpp").find("3 arguments") !=
        std::string::npos);
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
