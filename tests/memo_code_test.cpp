// Caches in memory that C++ and Python keep, in files that are made to be large.

#include <doctest/doctest.h>

#include <string>

#include "tests/source_folder.h"

namespace opseal::test {
namespace {

std::size_t caches_in(const std::string& path, const std::string& text) {
  const Facts facts = read_sources({{path, text}});
  std::size_t count = 0;
  for (const Document& document : facts.documents) {
    count += facts.root(document)[Key::caches].size();
  }
  return count;
}

std::string function_of(const std::string& name, const std::string& parameters) {
  return "Kernel " + name + "(int rows" + parameters +
         ") {\n"
         "  const int key = rows;\n"
         "  auto it = kernel_cache.find(key);\n"
         "  if (it != kernel_cache.end()) return it->second;\n"
         "  Kernel built = compile(rows, columns);\n"
         "  return kernel_cache.emplace(key, built).first->second;\n"
         "}\n";
}

const std::string head = "static std::unordered_map<int, Kernel> kernel_cache;\n";

}  // namespace

TEST_CASE("of very many caches in one file some are looked at") {
  CHECK(caches_in("csrc/a.cpp", head + function_of("one", ", int columns")) == 1);
  std::string text = head;
  for (int at = 0; at < 2000; ++at) text += function_of("f" + std::to_string(at), ", int columns");
  const std::size_t found = caches_in("csrc/a.cpp", text);
  CHECK(found > 1);
  CHECK(found <= 32);
}

TEST_CASE("a function with more parameters than any function has is no cache") {
  std::string parameters = ", int columns";
  for (int at = 0; at < 100; ++at) parameters += ", int p" + std::to_string(at);
  CHECK(caches_in("csrc/a.cpp", head + function_of("one", parameters)) == 1);
  for (int at = 0; at < 20000; ++at) parameters += ", int q" + std::to_string(at);
  CHECK(caches_in("csrc/a.cpp", head + function_of("one", parameters)) == 0);
}

TEST_CASE("blocks and lambdas that never end are read to the end of the file") {
  std::string deep = head + "Kernel one(int rows, int columns) {\n  const int key = rows;\n";
  for (int at = 0; at < 5000; ++at) deep += "if (rows) { auto f = [&]() {\n";
  deep += "auto it = kernel_cache.find(key); kernel_cache.insert({key, compile(columns)});\n";
  CHECK(caches_in("csrc/a.cpp", deep) <= 1);
}

TEST_CASE("files that are looked for without end are looked at for a while") {
  const std::string begin =
      "void build(const std::string& code, const std::string& flags) {\n"
      "  auto file = folder_ / hex(fnv(code));\n";
  const std::string end = "  compile_program(code, flags);\n  write_file(file, code);\n}\n";
  const std::string question = "  if (load_file(file)) return;\n";
  const std::string head_of_file = "// cache\n";
  CHECK(caches_in("csrc/a.cpp", head_of_file + begin + question + end) == 1);
  // Of each function one.
  CHECK(caches_in("csrc/a.cpp", head_of_file + begin + question + end + begin + question + end) ==
        2);
  std::string other;
  for (int at = 0; at < 100; ++at) {
    other +=
        "  auto f" + std::to_string(at) + " = code;\n  load_file(f" + std::to_string(at) + ");\n";
  }
  CHECK(caches_in("csrc/a.cpp", head_of_file + begin + other + question + end) == 0);
  std::string many = head_of_file;
  for (int at = 0; at < 500; ++at) many += begin + question + end;
  const std::size_t found = caches_in("csrc/a.cpp", many);
  CHECK(found > 2);
  CHECK(found <= 16);
}

TEST_CASE("helpers of a path that call each other, and many that make keys") {
  std::string text = "// cache\n";
  for (int at = 0; at < 40; ++at) {
    text += "std::string p" + std::to_string(at) + "(const std::string& s) { return p" +
            std::to_string((at + 1) % 40) + "(s); }\n";
  }
  text +=
      "void build(const std::string& code, const std::string& flags) {\n"
      "  auto file = p0(code);\n  if (load_file(file)) return;\n"
      "  compile_program(code, flags);\n  write_file(file, code);\n}\n";
  // So many are not followed.
  CHECK(caches_in("csrc/a.cpp", text) == 0);
  std::string makers = "// cache\n";
  for (int at = 0; at < 200; ++at) {
    const std::string name = "n" + std::to_string(at) + "_key";
    makers += "int " + name + "(int rows, Backend backend) { return rows; }\n" + "int f" +
              std::to_string(at) + "(int rows, Backend backend) { return map.find(" + name +
              "(rows, backend)); }\n";
  }
  const std::size_t found = caches_in("csrc/a.cpp", makers);
  CHECK(found > 1);
  CHECK(found <= 16);
}

TEST_CASE("paths of fields have a longest, and a tuner with very many names some") {
  std::string field = "config";
  for (int at = 0; at < 3000; ++at) field += ".f" + std::to_string(at);
  const std::string text =
      "_kernels = {}\ndef get(config):\n    key = (config.a,)\n"
      "    if key not in _kernels:\n"
      "        _kernels[key] = compile_kernel(" +
      field + ")\n    return _kernels[key]\n";
  CHECK(caches_in("pkg/a.py", text) <= 1);
  std::string names = "import triton\n@triton.autotune(configs=[], key=[";
  for (int at = 0; at < 1000; ++at) names += "'n" + std::to_string(at) + "', ";
  names += "])\n@triton.jit\ndef kernel(a, b):\n    pass\n";
  const Facts facts = read_sources({{"pkg/a.py", names}});
  REQUIRE(facts.documents.size() == 1);
  std::size_t parts = 0;
  for (const Fact cache : facts.root(facts.documents.front())[Key::caches].items()) {
    parts += cache[Key::key_parts].size();
  }
  CHECK(parts > 1);
  CHECK(parts <= 128);
}

}  // namespace opseal::test
