// The parts of the typed tier that need no libclang.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "analyzers/clang/compile_commands.h"
#include "analyzers/clang/compile_flags.h"
#include "analyzers/clang/typed.h"
#include "analyzers/clang/typed_records.h"
#include "analyzers/sources/typed_tier.h"
#include "tests/source_folder.h"
#include "tests/support.h"

namespace opseal::test {
namespace {

using Texts = std::vector<std::string>;

// Without the flags that every parse has.
std::string flags_text(const Texts& command, const std::string& path = "a.cpp") {
  Texts flags = kept_flags(command, "", path);
  std::string text;
  for (std::size_t at = 5; at < flags.size(); ++at) text += (at > 5 ? " " : "") + flags[at];
  return text;
}

}  // namespace

TEST_CASE("typed: of a command the flags are kept that say what a source means") {
  CHECK(flags_text({"g++", "-Iinclude", "-I", "b", "-isystem", "c", "-DX=1", "-std=c++17", "-O2",
                    "-c", "a.cpp", "-o", "a.o"}) == "-Iinclude -I b -isystem c -DX=1 -std=c++17");
  // Operands of dropped flags would be taken for sources.
  CHECK(flags_text({"nvcc",
                    "-gencode",
                    "arch=compute_90,code=sm_90",
                    "-ccbin",
                    "g++",
                    "-Xcompiler",
                    "-fPIC",
                    "--threads",
                    "4",
                    "-diag-suppress",
                    "177",
                    "-isystem=/x",
                    "--std",
                    "c++17",
                    "-dc",
                    "-rdc",
                    "true",
                    "-x",
                    "cu",
                    "a.cu"},
                   "a.cu") == "--cuda-host-only -isystem/x -std=c++17");
  // Code that the tree brings along is not run.
  CHECK(flags_text({"clang++", "-fplugin=./evil.so", "-Xclang", "-load", "-fpass-plugin=./evil.so",
                    "@flags", "-fexceptions", "a.cpp"}) == "-fexceptions -std=c++20");
  CHECK(kept_flags({}, "", "a.cpp").empty());
  CHECK(kept_flags({"g++"}, "", "a.cpp").empty());
  // A flag at the end without its operand.
  CHECK(flags_text({"g++", "-I"}) == "-std=c++20");
  CHECK(flags_text({"g++", "-gencode"}) == "-std=c++20");
}

TEST_CASE("typed: a command line is split as a shell does it") {
  CHECK(split_command(R"(g++ -DNAME=\"a\ b\" '-DX=c d' "-I e"  f.cpp)") ==
        Texts{"g++", "-DNAME=\"a b\"", "-DX=c d", "-I e", "f.cpp"});
  CHECK(split_command("  ").empty());
  CHECK(split_command("'open") == Texts{"open"});
  CHECK(split_command("a ''") == Texts{"a", ""});
}

TEST_CASE("typed: commands of a build are found by the path of the file") {
  CompileCommands commands;
  commands.read(R"([{"file": "csrc/../a.cpp", "directory": "/tree", "command": "g++ -DA a.cpp"},
                    {"file": "/tree/b.cpp", "directory": "/tree", "arguments": ["g++", "-DB"]},
                    {"file": "/tree/b.cpp", "directory": "/tree", "arguments": ["g++", "-DC"]},
                    {"file": 3}, [], {"directory": "/tree"}])");
  const auto has = [&commands](const std::string& path, const std::string& flag) {
    const Texts flags = commands.flags_of(path);
    return std::find(flags.begin(), flags.end(), flag) != flags.end();
  };
  CHECK(has("/tree/a.cpp", "-DA"));
  CHECK(has("/tree/a.cpp", "-working-directory=/tree"));
  CHECK(has("/tree/b.cpp", "-DB"));
  CHECK(commands.flags_of("/tree/c.cpp").empty());
  for (const char* broken : {"", "{", "[{", "3", "[[[[", "{\"file\": []}"}) {
    CompileCommands none;
    none.read(broken);
    CHECK(none.empty());
  }
}

TEST_CASE("typed: an answer is read as it was written, and cut anywhere it is broken") {
  TypedFile file;
  file.functions.push_back({{3, 4}, "f", "Tensor (int64_t n)", {"n"}, 1, true});
  file.pointers.push_back({{5, 6}, "pack(x).data()", "Buffer", "run"});
  file.statuses.push_back({{7, 8}, "Register", true});
  file.registrars.push_back({{9, 1}, "Registrar", "r", {{{10, 5}, "a::table"}}});
  file.globals.push_back({{11, 2}, "a::table", true});
  RowWriter writer;
  write_answer(file, writer);
  RowReader reader(writer.bytes());
  const TypedFile read = read_answer(reader);
  CHECK(reader.at_end());
  CHECK_FALSE(reader.broken());
  REQUIRE(read.functions.size() == 1);
  CHECK(read.functions[0].signature == "Tensor (int64_t n)");
  CHECK(read.functions[0].parameters == Texts{"n"});
  REQUIRE(read.registrars.size() == 1);
  CHECK(read.registrars[0].uses.at(0).name == "a::table");
  CHECK(read.globals.at(0).dynamic);
  for (std::size_t length = 0; length < writer.bytes().size(); ++length) {
    RowReader cut(std::string_view(writer.bytes()).substr(0, length));
    read_answer(cut);
    CHECK(cut.broken());
  }
}

TEST_CASE("typed: numbers that are too large, or none, end the reading") {
  for (const char* text :
       {"99999999999999999999999:a", "11:99999999999", "1:x", "0:", ":", "a", "3:ab"}) {
    RowReader reader(text);
    reader.count();
    CHECK(reader.broken());
  }
  // More items than there are bytes.
  RowReader reader("10:4294967295");
  CHECK(reader.size() == 0);
  CHECK(reader.broken());
}

TEST_CASE("typed: a file that keeps what a call gives is looked at") {
  CHECK(keeps_from_call("float* p = pack(x).data();"));
  CHECK(keeps_from_call("p = (float*)(pack(x)\n    .data());"));
  CHECK_FALSE(keeps_from_call("use(pack(x).data(), 3); x.data(); f(); g().h;"));
  CHECK_FALSE(keeps_from_call(")"));
}

TEST_CASE("typed: where a tree is on disk follows from one of its files") {
  CHECK(root_of_tree("project", "project/csrc/a.cpp", "/home/project/csrc/a.cpp") ==
        "/home/project");
  CHECK(root_of_tree(".", "csrc/a.cpp", "/home/csrc/a.cpp") == "/home");
  CHECK(root_of_tree(".", "csrc/a.cpp", "csrc/a.cpp") == ".");
  CHECK(root_of_tree("project", "other/a.cpp", "/home/other/a.cpp").empty());
  CHECK(root_of_tree("project", "project/a.cpp", "").empty());
}

TEST_CASE("typed: without the library nothing is asked, and the reason is told") {
  TypedOutcome outcome;
  const TypedOptions options{
      .wanted = true, .program = "/bin/false", .cache = {}, .outcome = &outcome};
  SourceFolder folder;
  folder.place.path = "project";
  InputFile file;
  file.path = "project/a.cpp";
  file.bytes = "Status RegisterAll();\nvoid f() { RegisterAll(); }\n";
  file.size = file.bytes.size();
  folder.files.push_back(file);
  const Facts facts = load_sources(folder, 2, {}, nullptr, options);
  // A child that says nothing costs the answers.
  CHECK(facts.documents.empty());
  const TypedOptions absent{
      .wanted = true, .program = "/nowhere/opseal", .cache = {}, .outcome = &outcome};
  load_sources(folder, 2, {}, nullptr, absent);
  CHECK(outcome.reason() == "can't start /nowhere/opseal again");
}

}  // namespace opseal::test
