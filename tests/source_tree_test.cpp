// Which files of a project a scan reads, and what their headers add.

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

#include "analyzers/source/needles.h"
#include "tests/source_reader.h"

namespace opseal::test {
namespace {

constexpr const char* main_text = "#include \"reg.h\"\nREG(a);\n";

}  // namespace

TEST_CASE("headers of the project give their macros, and nothing else") {
  const SourceReader reader(main_text,
                            {{"a/reg.h", "#pragma once\nint x;\n#define REG(n) m.impl(#n, n)\n"}});
  CHECK(reader.text() == "m.impl(\"a\", a);");
  CHECK(reader.invocations() == "m.impl[\"a\"][a] via REG\n");
}

TEST_CASE("an include means the file beside it, else the nearest whose path ends so") {
  const auto function_of = [](SourceReader::Files files) {
    return SourceReader(main_text, std::move(files)).text();
  };
  const std::string far = "#define REG(n) m.impl(#n, far)\n";
  const std::string near = "#define REG(n) m.impl(#n, near)\n";
  CHECK(function_of({{"a/reg.h", near}, {"reg.h", far}}) == "m.impl(\"a\", near);");
  CHECK(function_of({{"a/include/reg.h", near}, {"b/include/reg.h", far}}) ==
        "m.impl(\"a\", near);");
  CHECK(function_of({{"b/other_reg.h", far}}) == "REG(a);");
  const SourceReader reader("#include <lib/../lib/x/reg.h>\nREG(a);\n",
                            {{"b/reg.h", far}, {"c/lib/x/reg.h", near}});
  CHECK(reader.text() == "m.impl(\"a\", near);");
  const SourceReader above("#include \"../b/reg.h\"\nREG(a);\n", {{"b/reg.h", near}});
  CHECK(above.text() == "m.impl(\"a\", near);");
}

TEST_CASE("a header's macros have the conditions of the header and of the include") {
  const SourceReader reader(
      "#ifdef X\n#include \"one.h\"\n#else\n#include \"two.h\"\n#endif\nREG(a);\n",
      {{"a/one.h", "#ifndef ONE_H\n#define ONE_H\n#define REG(n) m.impl(#n, one)\n#endif\n"},
       {"a/two.h",
        "#if Y\n#define REG(n) m.impl(#n, two)\n#else\n#define REG(n) m.impl(#n, three)\n"
        "#endif\n"}});
  CHECK(reader.invocations() ==
        "m.impl[\"a\"][one] if defined(X) via REG\n"
        "m.impl[\"a\"][two] if !defined(X) && Y via REG\n"
        "m.impl[\"a\"][three] if !defined(X) && !Y via REG\n");
}

TEST_CASE("files that register by the project's macros alone are not passed over") {
  const SourceReader reader(
      "int x;", {{"inc/base.h", "#define BASE(n) XLA_FFI_REGISTER_HANDLER(api, #n, \"gpu\", n)\n"},
                 {"inc/wrap.h", "#define WRAP_HANDLER(n) BASE(n)\n#define PLAIN_MACRO(n) n\n"},
                 {"inc/again.h", "#define AGAIN_HANDLER(n) WRAP_HANDLER(n)\n"}});
  std::string names;
  for (const std::string& name : reader.tree.project_macros()) names += name + " ";
  CHECK(names.find("PLAIN") == names.npos);
  CHECK(reader.tree.has_needle("BASE(x)"));
  CHECK_FALSE(reader.tree.has_needle("BASE = x"));
  CHECK(reader.tree.has_needle("WRAP_HANDLER(x)"));
  CHECK(reader.tree.has_needle("AGAIN_HANDLER(x)"));
  CHECK_FALSE(reader.tree.has_needle("PLAIN_MACRO(x)"));
  CHECK(reader.tree.has_needle("TORCH_LIBRARY(a, m)"));
}

TEST_CASE("headers that include each other end, and chains end at forty") {
  SourceReader::Files files;
  for (int i = 0; i < 60; ++i) {
    const std::string n = std::to_string(i);
    files["a/h" + n + ".h"] = "#include \"h" + std::to_string((i + 1) % 60) + ".h\"\n#define REG" +
                              n + "(n) m.impl(#n, n)\n";
  }
  const SourceReader reader("#include \"h0.h\"\nREG0(a); REG38(b); REG59(c);\n", files);
  CHECK(reader.text() == "m.impl(\"a\", a); m.impl(\"b\", b); REG59(c);");
}

TEST_CASE("a header of more than two megabytes gives nothing") {
  const std::string definition = "#define REG(n) m.impl(#n, n)\n";
  const std::string filler(SourceTree::most_header_bytes, ' ');
  CHECK(SourceReader(main_text, {{"a/reg.h", definition}}).text() == "m.impl(\"a\", a);");
  CHECK(SourceReader(main_text, {{"a/reg.h", definition + filler}}).text() == "REG(a);");
}

TEST_CASE("raw strings of headers hold no directives") {
  const SourceReader reader(
      main_text, {{"a/reg.h", "const char* a = R\"(\n#define REG(n) m.impl(#n, n)\n)\";\n"}});
  CHECK(reader.text() == "REG(a);");
}

TEST_CASE("sources and headers are told by their suffixes") {
  CHECK(is_source_path("a/b.cu"));
  CHECK(is_source_path("b.cuh"));
  CHECK(is_source_path("b.mm"));
  CHECK_FALSE(is_source_path("b.py"));
  CHECK_FALSE(is_source_path("a.cpp/b"));
  CHECK(is_header_path("a.inc"));
  CHECK_FALSE(is_header_path("a.cc"));
}

TEST_CASE("needles are found wherever they stand, by either way to look") {
  const Needles needles({"TORCH_LIBRARY", "XLA_FFI_", "Library&", "Library &", "REGISTER_OP"});
  const std::string filler = "TORCH_LIB XLA_FF Library REGISTER_ TORCH_L1BRARY ";
  for (std::size_t before = 0; before < 70; ++before) {
    for (const std::string word : {"TORCH_LIBRARY", "XLA_FFI_", "Library &", "REGISTER_OP"}) {
      const std::string text = std::string(before, 'T') + word;
      CHECK(needles.occur_in(text));
      CHECK(needles.occur_in_slowly(text));
      CHECK(needles.occur_in(text + std::string(before, 'x')));
      CHECK_FALSE(needles.occur_in(std::string_view(text).substr(0, text.size() - 1)));
      CHECK_FALSE(needles.occur_in_slowly(std::string_view(text).substr(0, text.size() - 1)));
    }
  }
  CHECK_FALSE(needles.occur_in(filler + filler + filler));
  CHECK_FALSE(needles.occur_in(""));
  CHECK_FALSE(Needles({}).occur_in(filler));
}

TEST_CASE("a great many needles are found, too") {
  std::vector<std::string> words;
  for (int i = 0; i < 3000; ++i)
    words.push_back("REGISTER_" + std::to_string(i * 7919) + "_KERNEL");
  const Needles needles(words);
  for (int i = 0; i < 3000; i += 97) {
    CHECK(needles.occur_in("a b c d e f g h i j k l m n o p q r s t u v w x y z " +
                           words[static_cast<std::size_t>(i)]));
  }
  CHECK_FALSE(needles.occur_in("int main() { return 0; } // and more that has no such name in it"));
}

TEST_CASE("threads share the headers of a tree") {
  SourceReader::Files files;
  for (int i = 0; i < 50; ++i) {
    files["a/h" + std::to_string(i) + ".h"] =
        "#define REG" + std::to_string(i) + "(n) m.impl(#n, n)\n";
  }
  std::string text;
  for (int i = 0; i < 50; ++i) {
    const std::string n = std::to_string(i);
    text += "#include \"h" + n + ".h\"\nREG" + n + "(a);\n";
  }
  const SourceReader reader("int x;", files);
  std::vector<std::size_t> counts(4);
  std::vector<std::thread> threads;
  for (std::size_t& count : counts) {
    threads.emplace_back([&reader, &text, &count] {
      Preprocessor preprocessor(reader.tree);
      SourceUnit unit;
      Invocations found;
      preprocessor.run(reader.unit.file, text, unit);
      find_invocations(unit, reader.tree.vocabulary(), found);
      count = found.list.size();
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(counts == std::vector<std::size_t>(4, 50));
}

}  // namespace opseal::test
