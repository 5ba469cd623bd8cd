// Modules of C++ that Python imports.

#include <doctest/doctest.h>

#include <string>

#include "analyzers/sources/extensions.h"
#include "tests/bounded.h"
#include "tests/source_folder.h"
#include "tests/support.h"

namespace opseal::test {
namespace {

Fact functions_of(const Facts& facts) {
  for (const Document& document : facts.documents) {
    const Fact functions = facts.root(document)[Key::functions];
    if (functions.is_list()) return functions;
  }
  return {};
}

const std::string two_functions =
    "PYBIND11_MODULE(_ext, m) {\n  m.def(\"add\", &add);\n  m.def(\"mul\", &mul);\n}\n";

}  // namespace

TEST_CASE("a module is told of whether or not Python asks for it") {
  const Facts alone = read_sources({{"csrc/ext.cpp", two_functions}});
  CHECK(functions_of(alone).size() == 2);
  CHECK(named(functions_of(alone), "mul")[Key::namespace_].is("_ext"));
  // One file of a project, as hooks give it.
  const Facts partial = read_sources({{"csrc/ext.cpp", two_functions}}, true);
  CHECK(functions_of(partial).size() == 2);
}

TEST_CASE("a sound module is a clean run") {
  const Audit audit =
      audit_paths({(source_dir() / "fixtures/name-charset/quiet-module").string()}, {});
  CHECK(audit.exit_code == exit_code::clean);
  CHECK(audit.bound_functions == 2);
}

TEST_CASE("a module beside another that Python asks for is told of, too") {
  const Facts facts = read_sources(
      {{"csrc/ext.cpp", two_functions},
       {"csrc/other.cpp", "PYBIND11_MODULE(_other, m) { m.def(\"other\", &other); }\n"},
       {"pkg/a.py", "from . import _ext\ndef f(a, b):\n    return _ext.add(a, b)\n"}});
  CHECK(functions_of(facts).size() == 3);
  CHECK(named(functions_of(facts), "other")[Key::namespace_].is("_other"));
}

TEST_CASE("a module is told of once, by the name that the build gives it") {
  const Facts facts = read_sources(
      {{"csrc/ext.cpp", "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"add\", &add); }\n"},
       {"setup.py", "setup(ext_modules=[CUDAExtension('pkg._C', ['csrc/ext.cpp'])])\n"}});
  REQUIRE(functions_of(facts).size() == 1);
  CHECK(named(functions_of(facts), "add")[Key::namespace_].is("pkg._C"));
}

TEST_CASE("reading modules takes time in proportion to them") {
  const auto functions = [](const std::string& cpp, const std::string& python) {
    const Taken taken = run_bounded(
        [&] {
          const Facts facts = read_sources({{"csrc/ext.cpp", cpp}, {"pkg/a.py", python}});
          return std::to_string(functions_of(facts).size());
        },
        20);
    CHECK(taken.broken.empty());
    return taken.answer;
  };
  SUBCASE("one chain of many") {
    std::string cpp = "NB_MODULE(_ext, m) { m";
    for (int at = 0; at < 100'000; ++at) cpp += ".def(\"f\",&f)";
    CHECK(functions(cpp + "; }\n", "") == "20000");
  }
  SUBCASE("many calls of one function that asks many times") {
    std::string python = "from . import _ext\ndef make(name):\n";
    for (int at = 0; at < 4000; ++at) python += "    getattr(_ext, name)\n";
    for (int at = 0; at < 4000; ++at) python += "make('add')\n";
    CHECK(functions(two_functions, python) == "2");
  }
  SUBCASE("many uses of a module of many functions") {
    std::string cpp = "NB_MODULE(_ext, m) {\n";
    for (int at = 0; at < 20'000; ++at) cpp += "m.def(\"f" + std::to_string(at) + "\", &f);\n";
    std::string python = "from . import _ext\n";
    for (int at = 0; at < 60'000; ++at) python += "_ext.f(1)\n";
    CHECK(functions(cpp + "}\n", python) == "20000");
  }
}

}  // namespace opseal::test
