#include "analyzers/package/python_mentions.h"

#include <doctest/doctest.h>

#include <string>

namespace opseal::test {
namespace {

std::string list(const std::vector<PythonMention>& mentions) {
  std::string text;
  for (const PythonMention& one : mentions) {
    text += (text.empty() ? "" : " ") + one.name + ':' + std::to_string(one.line);
  }
  return text;
}

std::string imports(std::string_view text) {
  return list(find_python_mentions(text, "pkg/sub/mod.py").imports);
}

std::string libraries(std::string_view text) {
  return list(find_python_mentions(text, "pkg/sub/mod.py").libraries);
}

}  // namespace

TEST_CASE("imports name every module that they may mean") {
  CHECK(imports("import a.b as c, d\nimport e; import f\n") == "a.b:1 d:1 e:2 f:2");
  CHECK(imports("from a.b import c as d, e\n") == "a.b:1 a.b.c:1 a.b.e:1");
  CHECK(imports("from a import (b,  # why\n    c,\n)\nimport d\n") == "a:1 a.b:1 a.c:2 d:4");
  CHECK(imports("from a import *\n") == "a:1");
  CHECK(imports("try: import a\nexcept ImportError: from b import c\n") == "a:1 b:2 b.c:2");
  CHECK(imports("import a, \\\n    b\n") == "a:1 b:2");
}

TEST_CASE("relative imports are those of the file's own package") {
  CHECK(imports("from . import _x\n") == "pkg.sub:1 pkg.sub._x:1");
  CHECK(imports("from .a import b\n") == "pkg.sub.a:1 pkg.sub.a.b:1");
  CHECK(imports("from .. import _x\n") == "pkg:1 pkg._x:1");
  CHECK(imports("from ...... import _x\n") == "_x:1");
  CHECK(imports("from ..._x import a\n") == "_x:1 _x.a:1");
}

TEST_CASE("modules that are asked for by name are imports") {
  CHECK(imports("importlib.import_module('a._x')\n") == "a._x:1");
  CHECK(imports("m = import_module(\n  '._x', __package__)\n") == "pkg.sub._x:2");
  CHECK(imports("__import__(\"_x\")\n") == "_x:1");
  CHECK(imports("import_module(f'a.{name}')\n") == "");
  CHECK(imports("print('a._x')\n") == "");
}

TEST_CASE("what stands in comments, texts and docstrings is no import") {
  CHECK(imports("# import a\n\"\"\"\nimport b\n\"\"\"\nx = 'import c'\n") == "");
  CHECK(imports("x = '''\nfrom a import b\n'''\nimport c\n") == "c:4");
  CHECK(imports("yield from a\nraise B from c\n") == "");
  CHECK(imports("x = 'a\\\nb'\nimport c\n") == "c:3");
}

TEST_CASE("names of libraries are taken from texts") {
  CHECK(libraries("ctypes.CDLL('libx.so')\n") == "libx.so:1");
  CHECK(libraries("load(os.path.join(here, \"lib/libx.so.12\"))\n") == "libx.so.12:1");
  CHECK(libraries("glob(r'_C*.so')\n") == "_C*.so:1");
  CHECK(libraries("load(f'{here}/lib{name}_cuda{v[0]}.so')\n") == "lib*_cuda*.so:1");
  CHECK(libraries("names = ['libx.so',\n 'liby.so.1', 'a.sort', '.so']\n") ==
        "libx.so:1 liby.so.1:2");
  CHECK(libraries("find_library('nvrtc')\n") == "libnvrtc.so*:1");
  CHECK(libraries("raise E('cannot open libx.so, or liby.so.')\n") == "libx.so:1 liby.so:1");
}

TEST_CASE("docstrings and comments name no libraries") {
  CHECK(libraries("\"\"\"Loads libx.so.\"\"\"\n# liby.so\ndef f():\n  'libz.so'\n") == "");
}

TEST_CASE("text that is no Python ends") {
  CHECK(imports("'never closed\nimport a\n") == "a:2");
  CHECK(imports("'''never closed\nimport a\n") == "");
  CHECK(imports("))))import a\n") == "");
  CHECK(imports("((((import a\n") == "");
  CHECK(libraries("f'{{{{{a' '{' f'{' + 'libx.so'\n") == "libx.so:1");
  CHECK(imports("from") == "");
  CHECK(imports("import") == "");
  CHECK(imports("\\") == "");
}

TEST_CASE("a mention fits the file that it names, its versions and what a pattern takes") {
  CHECK(mention_fits("libx.so", "libx.so"));
  CHECK(mention_fits("libx.so", "libx.so.1.2"));
  CHECK(!mention_fits("libx.so", "libx.sonar"));
  CHECK(!mention_fits("libx.so.1", "libx.so.12"));
  CHECK(mention_fits("_C*.so", "_C.abi3.so"));
  CHECK(!mention_fits("lib*.so", "libx.so.1"));
}

TEST_CASE("the module of an extension is its path up to the first dot of its name") {
  CHECK(module_of_extension("a/b/_x.cpython-311-x86_64-linux-gnu.so") == "a.b._x");
  CHECK(module_of_extension("_x.so") == "_x");
}

}  // namespace opseal::test
