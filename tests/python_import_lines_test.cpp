#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "analyzers/python/import_lines.h"

using opseal::PythonImportLines;

namespace {

// Whether the last place of a word may mean one of a module whose last part is given.
bool may_mean(const std::string& text, std::string_view word, std::string_view module) {
  return PythonImportLines(text).may_mean(
      text.rfind(word), [module](std::string_view part) { return part == module; });
}

}  // namespace

TEST_CASE("words of import statements are known, over lines and behind clauses") {
  const PythonImportLines imports(
      "import a.b as c\n"
      "from .d import (  # e\n"
      "    f as g,\n"
      "    h,\n"
      ")\n"
      "if k: from l import m\n"
      "from n \\\n"
      "    import \\\n"
      "    o\n"
      "p = imported\n");
  for (const std::string_view word : {"a", "b", "c", "d", "f", "g", "h", "l", "m", "n", "o"}) {
    CHECK_MESSAGE(imports.has(word), word);
  }
  for (const std::string_view word : {"k", "p", "imported"}) CHECK_FALSE(imports.has(word));
  CHECK_FALSE(imports.has_star());
  CHECK(PythonImportLines("from a import *\n").has_star());
}

TEST_CASE("an imported thing is of the module that its import names, or of what stands before it") {
  CHECK(may_mean("from a.m import REG\n", "REG", "m"));
  CHECK_FALSE(may_mean("from a.m import REG\n", "REG", "a"));
  CHECK(may_mean("import m\nm.REG['a']\n", "REG", "m"));
  CHECK(may_mean("import a\na.m.\\\n  REG\n", "REG", "m"));
  CHECK_FALSE(may_mean("import a\na.m.REG\n", "REG", "a"));
  CHECK(may_mean("import a.m as n\nn.REG\n", "REG", "m"));
  CHECK(may_mean("from a import m as n\nn.REG\n", "REG", "m"));
  CHECK_FALSE(may_mean("from a import m\nm.REG\n", "REG", "a"));
  CHECK(may_mean("from . import REG\n", "REG", "anything"));
  CHECK(may_mean("from .. import REG\n", "REG", "anything"));
  CHECK_FALSE(may_mean("from .m import REG\n", "REG", "anything"));
  CHECK_FALSE(may_mean("import m\nself.REG\n", "REG", "m"));
  CHECK_FALSE(may_mean("import m\nREG = 1\n", "REG", "m"));
  CHECK_FALSE(may_mean("import m\nm().REG\n", "REG", "m"));
}

TEST_CASE("a byte order mark and brackets in comments are no part of an import") {
  CHECK(PythonImportLines("\xef\xbb\xbfimport engine\n").has("engine"));
  CHECK(PythonImportLines("\xef\xbb\xbf"
                          "from engine import REG\n")
            .has("engine"));
  const PythonImportLines imports(
      "from math import (sin,  # see (3\n  cos)\nimport engine\nx = y\n");
  CHECK(imports.has("engine"));
  CHECK(imports.has("cos"));
  CHECK_FALSE(imports.has("y"));
}

TEST_CASE("a file that gives one name to thousands of modules may mean any of them") {
  std::string text;
  for (int at = 0; at < 1000; ++at) text += "import a" + std::to_string(at) + " as OPS\n";
  CHECK(may_mean(text + "OPS.add\n", "add", "anything"));
}

TEST_CASE("damaged imports end with the text") {
  for (const std::string text :
       {"from m import (", "import", "import \\", "from", "\\\r\nimport a"}) {
    const PythonImportLines imports(text);
    CHECK_FALSE(imports.has_star());
    for (std::size_t at = 0; at < text.size(); ++at) {
      imports.may_mean(at, [](std::string_view part) { return part.empty(); });
    }
  }
}
