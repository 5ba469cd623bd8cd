// Comments in sources that accept findings.

#include "cli/comments.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "analyzers/sources/ignores.h"
#include "cli/audit.h"
#include "cli/options.h"
#include "tests/tree.h"

namespace opseal::test {
namespace {

Audit audit_of(const std::string& path, const std::string& text) {
  const Tree tree;
  tree.add("project/" + path, text);
  Options options;
  options.paths = {"project"};
  options.select = {"impl-*"};
  options.no_config = true;
  options.no_ignore = true;
  return run_audit(options);
}

std::string messages_of(const Audit& audit) {
  std::string text;
  for (const Problem& problem : audit.facts.problems) text += problem.message + '\n';
  return text;
}

// A block with these lines, and an operator so that the namespace is known.
std::string block(const std::string& lines) {
  return "TORCH_LIBRARY(demo, m) {\n  m.def(\"rope(Tensor x) -> Tensor\");\n}\n"
         "TORCH_LIBRARY_IMPL(demo, CPU, m) {\n" +
         lines + "}\n";
}

std::string said(const std::string& text, bool python = false) {
  std::string all;
  for (const IgnoreComment& one : read_ignores(text, 0, python)) {
    all += '[' + one.rule + '|' + one.reason + '|' +
           text.substr(one.place.offset, one.place.length) + ']';
  }
  return all;
}

}  // namespace

TEST_CASE("a comment accepts what is found at its line, or below it where it stands alone") {
  const std::string kernel = "  m.impl(\"tilt\", &tilt);";
  const std::string ignore = "// opseal: ignore(impl-def-unseen): elsewhere\n";
  CHECK(audit_of("ops.cpp", block(kernel + '\n')).counts.warnings == 1);
  for (const std::string& lines :
       {kernel + "  " + ignore, ignore + kernel + '\n',
        "  " + ignore + "// opseal: ignore(schema-type): of the others\n" + kernel + '\n',
        "/* opseal: ignore(impl-def-unseen): two\n lines */\n" + kernel + '\n'}) {
    const Audit audit = audit_of("ops.cpp", block(lines));
    INFO(lines);
    CHECK(audit.counts.warnings == 0);
    CHECK(audit.suppressed == 1);
    CHECK(audit.complete);
    CHECK(messages_of(audit) == "");
    REQUIRE(audit.findings.size() == 1);
    CHECK(audit.findings[0].silenced_by == "comment");
  }
  const Audit far = audit_of("ops.cpp", block("  f();  " + ignore + kernel + '\n'));
  CHECK(far.counts.warnings == 1);
  CHECK(messages_of(far) ==
        "`opseal: ignore(impl-def-unseen)` silences nothing: the rule has no finding at this "
        "line\n");
  CHECK(far.complete);
}

TEST_CASE("a comment in Python accepts findings too") {
  const std::string head =
      "import torch\nlib = torch.library.Library(\"demo\", \"DEF\")\n"
      "lib.define(\"scale(Tensor x) -> Tensor\")\n";
  const std::string impl = "lib.impl(\"sclae\", f, \"CPU\")\n";
  const std::string ignore = "# opseal: ignore(impl-without-def): it's elsewhere\n";
  CHECK(audit_of("ops.py", head + impl).counts.errors == 1);
  const Audit audit = audit_of("ops.py", head + ignore + impl);
  CHECK(audit.counts.errors == 0);
  CHECK(audit.suppressed == 1);
  CHECK(audit_of("ops.py", head + "'''\n" + ignore + "'''\n" + impl).counts.errors == 1);
}

TEST_CASE("comments that can't be obeyed are told") {
  const auto told = [](const std::string& comment) {
    return messages_of(audit_of("ops.cpp", block(comment + "\n  m.impl(\"tilt\", &tilt);\n")));
  };
  CHECK(told("// opseal: ignore(impl-def-unseen)") ==
        "`opseal: ignore(impl-def-unseen)` gives no reason and silences nothing, expected "
        "`opseal: ignore(rule): reason`\n");
  CHECK(told("// opseal: ignore impl-def-unseen") ==
        "`opseal: ignore` names no rule, expected `opseal: ignore(rule): reason`\n");
  CHECK(told("// opseal: ignore(impl-def-unsen): reason").find("did you mean") !=
        std::string::npos);
  // A rule that didn't run may have found something.
  CHECK(told("// opseal: ignore(schema-type): reason") == "");
  CHECK(told("// opseal: ignored by nobody") == "");
}

TEST_CASE("comments are told from texts that look like them") {
  CHECK(said("f(); // opseal: ignore(a, b): why\n") ==
        "[a|why|// opseal: ignore(a, b): why][b|why|// opseal: ignore(a, b): why]");
  CHECK(said("const char* s = \"// opseal: ignore(a): why\";\n") == "");
  CHECK(said("#define X 1 // opseal: ignore(a): why") == "[a|why|// opseal: ignore(a): why]");
  CHECK(said("x = 1  # opseal: ignore(a): why\r\n", true) == "[a|why|# opseal: ignore(a): why\r]");
  CHECK(said("x = '# opseal: ignore(a): why'\n", true) == "");
  CHECK(said("x = '''\n# opseal: ignore(a): why\n'''\n", true) == "");
  CHECK(said("x = 'it\\'s # opseal: ignore(a): why'\n", true) == "");
  CHECK(said("x = 'no end\n# opseal: ignore(a): why", true) == "[a|why|# opseal: ignore(a): why]");
  CHECK(said("# opseal: ignore(a", true) == "[a||# opseal: ignore(a]");
  CHECK(said("# opseal: ignore", true) == "[||# opseal: ignore]");
}

}  // namespace opseal::test
