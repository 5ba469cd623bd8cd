#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "analyzers/python/import_lines.h"

using opseal::PythonImportLines;

namespace {

// Of the last place of a word.
bool may_mean_import(const std::string& text, std::string_view word) {
  return PythonImportLines(text).may_mean_import(text.rfind(word));
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
  CHECK_FALSE(imports.has_nameless());
  CHECK(PythonImportLines("from a import *\n").has_star());
  CHECK(PythonImportLines("from . import a\n").has_nameless());
  CHECK(PythonImportLines("from .. import a\n").has_nameless());
  CHECK_FALSE(PythonImportLines("from .a import b\n").has_nameless());
}

TEST_CASE("an imported thing stands in an import, or behind what is imported") {
  CHECK(may_mean_import("from m import REG\n", "REG"));
  CHECK(may_mean_import("import m\nm.REG['a']\n", "REG"));
  CHECK(may_mean_import("import m\nm.sub.\\\n  REG\n", "REG"));
  CHECK(may_mean_import("import a.b as n\nn.REG\n", "REG"));
  CHECK_FALSE(may_mean_import("import m\nself.REG\n", "REG"));
  CHECK_FALSE(may_mean_import("import m\nREG = 1\n", "REG"));
  CHECK_FALSE(may_mean_import("import m\nm().REG\n", "REG"));
  // One that is imported here was met in its import.
  CHECK_FALSE(may_mean_import("from m import REG\nREG2 = REG\n", "REG2"));
}

TEST_CASE("damaged imports end with the text") {
  for (const std::string text :
       {"from m import (", "import", "import \\", "from", "\\\r\nimport a"}) {
    const PythonImportLines imports(text);
    CHECK_FALSE(imports.has_star());
    for (std::size_t at = 0; at < text.size(); ++at) imports.may_mean_import(at);
  }
}
