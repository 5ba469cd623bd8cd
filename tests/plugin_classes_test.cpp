// Creators of plugins, and how plugins are stored.

#include <doctest/doctest.h>

#include <string>

#include "tests/bounded.h"
#include "tests/source_folder.h"

namespace opseal::test {
namespace {

const std::string header =
    "class GeluPluginCreator : public nvinfer1::IPluginCreator {\n"
    " public:\n"
    "  char const* getPluginName() const noexcept override;\n"
    "};\n";
const std::string methods =
    "char const* GeluPluginCreator::getPluginName() const noexcept { return \"Gelu\"; }\n";

// What is said of the only creator of a tree.
Fact listed(const Facts& facts) {
  const Fact operators = manifest_of(facts, "tensorrt")[Key::operators];
  REQUIRE(operators.size() == 1);
  for (const Fact op : operators.items()) {
    for (const Fact kernel : op[Key::kernels].items()) return kernel[Key::listed];
  }
  return {};
}

}  // namespace

TEST_CASE("a creator alone is unlisted where nobody else can register it") {
  const Facts alone = read_sources({{"a/gelu.h", header}, {"a/gelu.cpp", methods}});
  CHECK(listed(alone).is_truth());
  CHECK(!listed(alone).truth());
  SUBCASE("who includes a header may register it") {
    const std::string inline_header =
        "class GeluPluginCreator : public nvinfer1::IPluginCreator {\n"
        "  char const* getPluginName() const noexcept override { return \"Gelu\"; }\n"
        "};\n";
    CHECK(!listed(read_sources({{"a/gelu.h", inline_header}})).said());
    CHECK(listed(read_sources({{"a/gelu.cpp", inline_header}})).said());
  }
  SUBCASE("a library that asks for creators gets them by names that aren't seen") {
    const Facts facts = read_sources({{"a/gelu.h", header},
                                      {"a/gelu.cpp", methods},
                                      {"a/exports.cpp", "Creators* getCreators() { ALL }\n"}});
    CHECK(!listed(facts).said());
  }
  SUBCASE("a macro may paste its name") {
    const Facts facts = read_sources({{"a/gelu.h", header},
                                      {"a/gelu.cpp", methods},
                                      {"a/all.h", "#define ADD(x) REGISTER(x##PluginCreator)\n"}});
    CHECK(!listed(facts).said());
  }
  SUBCASE("of a file alone nothing is known") {
    CHECK(!listed(read_sources({{"a/gelu.cpp", header + methods}}, true)).said());
  }
}

TEST_CASE("how plugins are stored is read in proportion to their methods") {
  std::string parameters = "void const* data";
  std::string body;
  std::string members;
  for (int at = 0; at < 60'000; ++at) {
    const std::string number = std::to_string(at);
    parameters += ", int p" + number;
    members += (at == 0 ? " : m" : ", m") + number + "(0)";
    body += "m" + number + " = read<int>(d);";
  }
  const std::string source = "struct Foo : IPluginV2 { Foo(" + parameters + ")" + members +
                             " { char const* d = data; " + body + " } };\n";
  const Taken taken = run_bounded(
      [&] {
        read_sources({{"a/foo.cpp", "// getPluginName\n" + source}});
        return std::string("read");
      },
      20);
  CHECK(taken.broken.empty());
  CHECK(taken.answer == "read");
}

}  // namespace opseal::test
