#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "analyzers/python/parsed.h"
#include "analyzers/python/tables.h"
#include "support.h"

namespace {

using namespace opseal;

bool has_kept_table(std::string_view text) {
  const ParsedPython file(text);
  for (const PythonTable& table : find_python_tables(file)) {
    const bool filled = std::any_of(table.accessors.begin(), table.accessors.end(),
                                    [](const PythonAccessor& one) { return one.stores; });
    if (filled || table.of_functions) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("texts that hold a table are looked into") {
  for (const std::string_view text : {
           "T = {}\ndef register(k, v):\n    T[k] = v\n",
           "T: dict[str, int] = {}\ndef register(k, v):\n    T[k] = v\n",
           "T: Dict[str,\n        int] = {}\ndef register(k, v):\n    T[k] = v\n",
           "T = dict()\ndef register(k, v):\n    T.setdefault(k, v)\n",
           "T = collections.defaultdict(list)\ndef register(k, v):\n    T[k].append(v)\n",
           "T = (\n    {}\n)\ndef register(k, v):\n    T[k] = v\n",
           "T = {\n    'add': add,\n}\n",
           "T = {'add': ops.add, 'b': ops.b}\n",
           "T = {'add': lambda x: x}\n",
           "T = {'int8': {'cuda': f, 'cpu': g}}\n",
           "class R:\n    table = {}\n\n    def add(self, k, v):\n        self.table[k] = v\n",
           "class R(\n    Base,\n):\n    table = {}\n    def add(self, k, v):\n        "
           "self.table[k] = v\n",
           "class R:\n    def __init__(self):\n        self._t = {}\n    def add(self, k, v):\n    "
           "    self._t[k] = v\n",
           "if x:\n    T = {}\nelse:\n    T = {}\ndef register(k, v):\n    T[k] = v\n",
           "T = {}\r\ndef register(a, b, v):\r\n    T[a][b] = v\r\n",
           "T={}\ndef register(k):\n  def f(v):\n    T[k]=v\n    return v\n  return f\n",
       }) {
    CAPTURE(text);
    CHECK(may_hold_tables(text));
  }
}

TEST_CASE("texts with other dictionaries are not") {
  for (const std::string_view text : {
           "def f():\n    T = {}\n    for k in x:\n        T[k] = 1\n",
           "T = {'a': 1, 'b': None}\n",
           "T = {}\nprint(T[1] == 2)\n",
           "x = y\n",
           "f(a={1: 2})\n",
           "if a == {1: b}:\n  pass\n",
           "",
       }) {
    CAPTURE(text);
    CHECK_FALSE(may_hold_tables(text));
  }
}

TEST_CASE("no table of the fixtures is overlooked") {
  std::size_t tables = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(test::source_dir() / "fixtures")) {
    if (entry.path().extension() != ".py") continue;
    const std::string text = test::read_file(entry.path());
    if (!has_kept_table(text)) continue;
    ++tables;
    CAPTURE(entry.path().string());
    CHECK(may_hold_tables(text));
  }
  CHECK(tables > 10);
}
