// The cache of precompiled headers, without libclang: what it is keyed by, and what is on disk.

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "analyzers/clang/headers_key.h"
#include "analyzers/clang/headers_store.h"
#include "analyzers/clang/leading_includes.h"
#include "opseal/digest.h"
#include "tests/support.h"
#include "tests/tree.h"

namespace fs = std::filesystem;

namespace opseal::test {
namespace {

std::string hex_of(const std::string& text) {
  ContentDigest digest;
  digest.add(text);
  return digest.hex();
}

// Of `project/a.cpp`, in a tree beside which there is a framework.
std::string leading(const Tree& tree, const std::string& source) {
  tree.add("project/a.cpp", source);
  const std::string root = (tree.root() / "project").string();
  return leading_includes(root + "/a.cpp", root,
                          {"-x", "c++", "-Iproject/include", "-I", "framework"})
      .text;
}

std::string stored(HeadersStore& store, const std::string& name, const std::string& text,
                   const std::vector<HeaderDigest>& headers) {
  const std::string file = store.new_file();
  std::ofstream(file, std::ios::binary) << text;
  return store.add(name, file, headers);
}

const std::string first_name(32, 'a');
const std::string second_name(32, 'b');

}  // namespace

TEST_CASE("typed headers: the lines that a source begins with") {
  const Tree tree;
  tree.add("framework/api.h", "int api();\n");
  tree.add("project/include/own.h", "#pragma once\n#include <api.h>\nint own();\n");
  tree.add("project/include/guarded.h",
           "// text\n#ifndef G_H\n#define G_H\n#include <map>\n#endif  // G_H\n");
  tree.add("project/beside.h", "int beside();\n");
  CHECK(leading(tree,
                "/* a\n*/ #include <api.h> // b\n#  include \"api.h\"\nint x;\n"
                "#include <vector>\n") == "#include <api.h>\n#include \"api.h\"\n");
  // What a header of the tree begins with is before what it says.
  CHECK(leading(tree, "#include \"own.h\"\n#include <vector>\n") == "#include <api.h>\n");
  CHECK(leading(tree, "#include \"guarded.h\"\n#include \"guarded.h\"\n#include <vector>\n") ==
        "#include <map>\n#include <vector>\n");
  CHECK(leading(tree, "#include <vector>\n#include \"beside.h\"\n#include <map>\n") ==
        "#include <vector>\n");
  // Macros may be read by the headers behind them.
  CHECK(leading(tree, "#define A 1\n#include <map>\n#define B 2\nint x;\n") ==
        "#define A 1\n#include <map>\n");
  for (const char* other :
       {"#if __has_include(<a>)\n#include <map>\n#endif\n", "#include NAME\n",
        "int x;\n#include <map>\n", "#define A \\\n 1\n#include <map>\n",
        "// a \\\n#include <map>\n#include <set>\n", "/* #include <map>", "#include <map\n",
        "#pragma pack(1)\n#include <map>\n", "", "#", "#include \"../framework/api.h\"\n"}) {
    CHECK(leading(tree, other) == "");
  }
  // Conditionals that hold nothing else, as a whole.
  const std::string guarded =
      "#ifdef WITH_PYTHON\n#include <Python.h>\n#else\n#if !defined(A)\n#include <map>\n#endif\n"
      "#endif\n";
  CHECK(leading(tree, guarded + "int x;\n") == guarded);
  CHECK(leading(tree, "#include <set>\n#ifdef A\n#include <map>\nint x;\n#endif\n") ==
        "#include <set>\n");
  CHECK(leading(tree, "#include <set>\n#ifdef A\n#include \"beside.h\"\n#endif\n") ==
        "#include <set>\n");
  const std::string choosing =
      "#if defined(A) || B >= 201703L\n#define C\n#elif D\n#include <set>\n#endif\n";
  tree.add("project/a.cpp", choosing);
  const LeadingIncludes both = leading_includes((tree.root() / "project/a.cpp").string(),
                                                (tree.root() / "project").string(), {});
  CHECK(both.text == choosing);
  CHECK(both.asked == std::set<std::string>{"A", "B", "D"});
  for (const char* other :
       {"#if A  // b\n#include <map>\n#endif\n", "#ifdef A\n#include <map>\n",
        "#ifdef A\n#include <map>\n#elif __has_include(<a>)\n#endif\n",
        // The second time it is defined.
        "#ifndef A\n#define A\n#include <map>\n#else\n#include <set>\n#endif\n"}) {
    CHECK(leading(tree, other) == "");
  }
  std::string many;
  for (int at = 0; at < 2000; ++at) many += "#include <map>\n";
  CHECK(leading(tree, many).size() == many.size() / 2);
  // Files that include each other.
  tree.add("project/include/own.h", "#include \"own.h\"\n#include <map>\n");
  CHECK(leading(tree, "#include \"own.h\"\n") == "#include <map>\n");
}

TEST_CASE("typed headers: each part of the key makes another name") {
  const HeadersKey key{"p", "c", "t", "/d", {"-a", "-b"}, {{"m", "x"}}, {{"h", "y"}}, "block"};
  std::vector<HeadersKey> others(10, key);
  others[0].program = "q";
  others[1].libclang = "q";
  others[2].target = "q";
  others[3].directory = "q";
  others[4].flags = {"-b", "-a"};
  others[5].flags = {"-a-b"};
  others[6].memory[0].second = "q";
  others[7].toolchain[0].second = "q";
  others[8].block = "q";
  others[9].memory.swap(others[9].toolchain);
  std::set<std::string> names{name_of(key)};
  for (const HeadersKey& other : others) names.insert(name_of(other));
  CHECK(names.size() == others.size() + 1);
  CHECK(with_operands({"-I", "a", "-Ib", "-D", "X", "-w", "-I"}) ==
        std::vector<std::string>{"-Ia", "-Ib", "-DX", "-w", "-I"});
}

TEST_CASE("typed headers: an entry is found while its headers are what they were") {
  const Tree tree;
  tree.add("api.h", "int api();\n");
  const std::vector<HeaderDigest> headers{{"api.h", hex_of("int api();\n")}};
  HeadersStore store("cache");
  REQUIRE(store.usable());
  const std::string path = stored(store, first_name, "PCH", headers);
  CHECK(read_file(path) == "PCH");
  CHECK(HeadersStore("cache").find(first_name) == path);
  CHECK(HeadersStore("cache").find(second_name).empty());
  // An entry under another name is somebody else's.
  fs::copy_file("cache/" + first_name + ".entry", "cache/" + second_name + ".entry");
  CHECK(HeadersStore("cache").find(second_name).empty());
  tree.add("api.h", "int apj();\n");
  CHECK(HeadersStore("cache").find(first_name).empty());
  fs::remove("api.h");
  CHECK(HeadersStore("cache").find(first_name).empty());
  tree.add("api.h", "int api();\n");
  CHECK(HeadersStore("cache").find(first_name) == path);
  tree.add(path, "PCX");
  CHECK(HeadersStore("cache").find(first_name).empty());
}

TEST_CASE("typed headers: an entry that is cut or has another byte is none") {
  const Tree tree;
  tree.add("api.h", "x");
  HeadersStore store("cache");
  stored(store, first_name, "PCH", {{"api.h", hex_of("x")}});
  const std::string entry = "cache/" + first_name + ".entry";
  const std::string good = read_file(entry);
  for (std::size_t at = 0; at < good.size(); ++at) {
    tree.add(entry, good.substr(0, at));
    CHECK(HeadersStore("cache").find(first_name).empty());
    std::string other = good;
    other[at] = static_cast<char>(other[at] ^ 2);
    tree.add(entry, other);
    CHECK(HeadersStore("cache").find(first_name).empty());
  }
  tree.add(entry, good);
  CHECK_FALSE(HeadersStore("cache").find(first_name).empty());
}

TEST_CASE("typed headers: what was not used for longest makes room") {
  const Tree tree;
  HeadersStore store("cache", 3000);
  const std::string big(1000, 'x');
  const auto age = [](const std::string& name, int hours) {
    const std::string path = "cache/" + name + ".entry";
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  stored(store, first_name, big + "1", {});
  stored(store, second_name, big + "2", {});
  age(first_name, 3);
  age(second_name, 2);
  // It counts as used now.
  CHECK_FALSE(store.find(first_name).empty());
  stored(store, std::string(32, 'c'), big + "3", {});
  CHECK_FALSE(store.find(first_name).empty());
  CHECK(store.find(second_name).empty());
  CHECK_FALSE(store.find(std::string(32, 'c')).empty());
  // What nobody names goes when nobody can be at work on it any more; the rest is not ours.
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(2);
  for (const std::string name : {"abcdef.new", "fresh0.new", "readme.txt"}) {
    tree.add("cache/" + name, "x");
    if (name != "fresh0.new") fs::last_write_time("cache/" + name, old);
  }
  stored(store, first_name, "new", {});
  CHECK_FALSE(fs::exists("cache/abcdef.new"));
  CHECK(fs::exists("cache/fresh0.new"));
  CHECK(fs::exists("cache/readme.txt"));
}

TEST_CASE("typed headers: a folder that others may write to is not used") {
  const Tree tree;
  CHECK_FALSE(HeadersStore("").usable());
  tree.add("file", "x");
  CHECK_FALSE(HeadersStore("file").usable());
  CHECK_FALSE(HeadersStore("file/below").usable());
  fs::create_directory("open");
  fs::permissions("open", fs::perms::all);
  CHECK_FALSE(HeadersStore("open").usable());
  CHECK(HeadersStore("a/b").usable());
}

TEST_CASE("typed headers: runs side by side find a whole entry or none") {
  const Tree tree;
  std::vector<std::thread> threads;
  for (int at = 0; at < 8; ++at) {
    threads.emplace_back([at] {
      for (int times = 0; times < 30; ++times) {
        HeadersStore store("cache");
        const std::string text(static_cast<std::size_t>(500 + at), static_cast<char>('a' + at));
        stored(store, first_name, text, {});
        store.find(first_name);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_FALSE(HeadersStore("cache").find(first_name).empty());
  for (const auto& one : fs::directory_iterator("cache")) CHECK(one.path().extension() != ".new");
}

}  // namespace opseal::test
