// `[[pair]]` of `opseal.toml`.

#include <doctest/doctest.h>

#include <string>

#include "cli/audit.h"
#include "tests/config_complaint.h"
#include "tests/tree.h"

namespace opseal::test {

TEST_CASE("pairs that the configuration names are followed in sources") {
  Tree tree;
  tree.add("opseal.toml",
           "[[pair]]\nname = 'gpu'\npredicate = 'gpu.cpp:asks'\ndispatch = ['run', 'run_more']\n"
           "noop = ['K_VIEW']\nnoreturn = ['give_up']\n");
  tree.add("csrc/gpu.cpp",
           "enum kind { K_A, K_B, K_C, K_VIEW };\n"
           "bool asks(kind k) { return k == K_A || k == K_B || k == K_C || k == K_VIEW; }\n"
           "void run(kind k) { switch (k) { case K_A: a(); break; default: give_up(); } }\n"
           "void run_more(kind k) { switch (k) { case K_B: b(); break; default: give_up(); } }\n");
  Options options;
  options.paths = {"csrc"};
  options.select = {"claim-without-launch"};
  const Audit audit = run_audit(options);
  REQUIRE(audit.findings.size() == 1);
  CHECK(audit.findings.front().message == "1 claimed kind without a launcher: `K_C`");
}

TEST_CASE("what is no pair is a mistake with its place") {
  Tree tree;
  CHECK(complaint(tree, "[[pair]]\nname = 'a'\npredicate = 'f'\ndispatch = ['g']\n") == "none");
  CHECK(complaint(tree, "[[pair]]\nname = 'a'\npredicate = 'f'\n") ==
        "opseal.toml:1:1: `pair` needs `name`, `predicate` and `dispatch`");
  CHECK(complaint(tree, "[[pair]]\nnames = 'a'\n").find("unknown key `names` in `pair`") !=
        std::string::npos);
  CHECK(complaint(tree, "pair = 1\n").find("`pair` is a list of tables: [[pair]]") !=
        std::string::npos);
}

}  // namespace opseal::test
