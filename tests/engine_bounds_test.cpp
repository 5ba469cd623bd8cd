// Registries of C++ in sources that are made to be slow.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "analyzers/source/plain_source.h"
#include "analyzers/sources/engines_cpp.h"

namespace opseal::test {
namespace {

std::size_t tables_in(const std::string& text) {
  PlainSource source;
  read_plain(0, text, source);
  std::vector<Engine> engines;
  find_cpp_literals(source, 0, engines);
  return engines.size();
}

std::string nested(int levels) {
  std::string text;
  for (int at = 0; at < levels; ++at) {
    text +=
        "const std::map<std::string, Fn> t" + std::to_string(at) + " = {{\"a\", f}, {\"b\", g},\n";
  }
  for (int at = 0; at < levels; ++at) text += "};\n";
  return text;
}

}  // namespace

TEST_CASE("tables that stand in each other are read to a depth") {
  CHECK(tables_in(nested(1)) == 1);
  CHECK(tables_in(nested(2000)) < 100);
}

TEST_CASE("tables that follow each other are all read") {
  std::string text;
  for (int at = 0; at < 2000; ++at) text += nested(1);
  CHECK(tables_in(text) == 2000);
}

}  // namespace opseal::test
