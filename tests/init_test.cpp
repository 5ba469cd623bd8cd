// `opseal init`: what it writes is a configuration, and nothing is written over.

#include <doctest/doctest.h>

#include <string>

#include "cli/config.h"
#include "cli/process.h"
#include "tests/support.h"
#include "tests/tree.h"

namespace opseal::test {
namespace {

// The predicate stands in one file, and what it speaks for in two others.
void add_engine(const Tree& tree) {
  tree.add("csrc/kinds.h", "enum class Kind { a, b, c, d };\n");
  tree.add("csrc/ask.cpp",
           "#include \"kinds.h\"\n"
           "bool supports(Kind kind) {\n"
           "  return kind == Kind::a || kind == Kind::b || kind == Kind::c;\n"
           "}\n");
  tree.add("csrc/run.cpp",
           "#include \"kinds.h\"\n\n"
           "void forward(Kind kind) {\n"
           "  switch (kind) {\n"
           "    case Kind::a: run_a(); break;\n"
           "    case Kind::b: run_b(); break;\n"
           "    default: abort();\n"
           "  }\n"
           "}\n");
}

// The proposals with their marks of comments taken off.
std::string uncommented(const std::string& text) {
  std::string out;
  std::size_t at = text.find("# Functions that sound like");
  REQUIRE(at != text.npos);
  at = text.find("# [[pair]]", at);
  REQUIRE(at != text.npos);
  for (std::size_t end = 0; at < text.size(); at = end + 1) {
    end = text.find('\n', at);
    if (end == text.npos) break;
    const std::string line = text.substr(at, end - at);
    out += (line.starts_with("# ") ? line.substr(2) : line) + "\n";
  }
  return out;
}

}  // namespace

TEST_CASE("init writes a configuration that says nothing yet, and names every key") {
  const Tree tree;
  const ProcessResult result = run_process({OPSEAL_BINARY, "init"});
  CHECK(result.status == 0);
  const Config config = read_config("opseal.toml");
  CHECK(config.pairs.empty());
  CHECK(config.select.empty());
  CHECK(config.macros.empty());
  const std::string text = read_file(tree.root() / "opseal.toml");
  for (const std::string_view key : config_key_names()) {
    CAPTURE(key);
    const std::string name(key);
    const bool is_named = text.find("# " + name + " = ") != text.npos ||
                          text.find("# [" + name + "]") != text.npos ||
                          text.find("# [[" + name + "]]") != text.npos;
    CHECK(is_named);
  }
}

TEST_CASE("init writes over nothing, and into no place that isn't there") {
  const Tree tree;
  tree.add("opseal.toml", "profile = \"strict\"\n");
  const ProcessResult again = run_process({OPSEAL_BINARY, "init"});
  CHECK(again.status == 2);
  CHECK(again.errors.find("is there already") != std::string::npos);
  CHECK(read_file(tree.root() / "opseal.toml") == "profile = \"strict\"\n");
  const ProcessResult printed = run_process({OPSEAL_BINARY, "init", "--print"});
  CHECK(printed.status == 0);
  CHECK(printed.output.starts_with("# Configuration of opseal"));
  CHECK(read_file(tree.root() / "opseal.toml") == "profile = \"strict\"\n");
  CHECK(run_process({OPSEAL_BINARY, "init", "absent"}).status == 2);
  std::filesystem::create_directory("linked");
  std::filesystem::create_symlink("nowhere.toml", "linked/opseal.toml");
  CHECK(run_process({OPSEAL_BINARY, "init", "linked"}).status == 2);
}

TEST_CASE("a pair that init proposes is one that check follows") {
  const Tree tree;
  add_engine(tree);
  CHECK(run_process({OPSEAL_BINARY, "check", "."}).status == 3);
  const ProcessResult printed = run_process({OPSEAL_BINARY, "init", "--print"});
  REQUIRE(printed.status == 0);
  CHECK(printed.output.find("csrc/ask.cpp:supports\"  # csrc/ask.cpp:2\n") != std::string::npos);
  CHECK(printed.output.find("csrc/run.cpp:forward\",  # csrc/run.cpp:3\n") != std::string::npos);
  // A named function needs a file that is looked at for its sake: the configuration does it.
  tree.add("opseal.toml", uncommented(printed.output));
  const ProcessResult checked = run_process({OPSEAL_BINARY, "check", "."});
  CHECK(checked.status == 1);
  CHECK(checked.output.find("[claim-without-launch]") != std::string::npos);
}

TEST_CASE("init proposes nothing for a predicate whose dispatch is certain") {
  const Tree tree;
  tree.add("csrc/whole.cpp",
           "enum class Kind { a, b, c, d };\n"
           "bool supports(Kind kind) {\n"
           "  return kind == Kind::a || kind == Kind::b || kind == Kind::c;\n"
           "}\n"
           "void forward(Kind kind) {\n"
           "  switch (kind) {\n"
           "    case Kind::a: run_a(); break;\n"
           "    case Kind::b: run_b(); break;\n"
           "    case Kind::c: run_c(); break;\n"
           "    default: abort();\n"
           "  }\n"
           "}\n");
  const ProcessResult printed = run_process({OPSEAL_BINARY, "init", "--print"});
  CHECK(printed.status == 0);
  CHECK(printed.output.find("Functions that sound like") == std::string::npos);
}

}  // namespace opseal::test
