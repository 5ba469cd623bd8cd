// The typed tier as users meet it: on the command line, in `opseal.toml`, with a build's commands.

#include <doctest/doctest.h>

#include <filesystem>
#include <iostream>
#include <string>

#include "cli/process.h"
#include "tests/support.h"
#include "tests/tree.h"

namespace fs = std::filesystem;

namespace opseal::test {
namespace {

constexpr const char* source =
    "#include \"api.h\"\n"
    "namespace lib {\n"
    "at::Tensor scale(const at::Tensor& x, api::count_t n) { return x; }\n"
    "}\n"
    "TORCH_LIBRARY(lib, m) { m.def(\"scale(Tensor x, float n) -> Tensor\"); }\n"
    "TORCH_LIBRARY_IMPL(lib, CPU, m) { m.impl(\"scale\", lib::scale); }\n";

// Stands for the headers of a framework, outside of the project.
constexpr const char* api_header =
    "#pragma once\n"
    "namespace at { struct Tensor {}; }\nnamespace api { typedef long count_t; }\n"
    "struct Block { template <class... A> void def(A...); template <class... A> void impl(A...); "
    "};\n"
    "#define TORCH_LIBRARY(n, m) static void define_##n(Block& m)\n"
    "#define TORCH_LIBRARY_IMPL(n, k, m) static void implement_##n(Block& m)\n";

ProcessResult run(const std::string& library, std::vector<std::string> arguments) {
  // In the folder of the test.
  std::vector<std::string> command{"env", "OPSEAL_CACHE_DIR=cache"};
  if (!library.empty()) command.push_back("OPSEAL_LIBCLANG=" + library);
  command.insert(command.end(), {OPSEAL_BINARY, "check", "--select", "schema-type"});
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_process(command);
}

bool is_skipped(const ProcessResult& result) {
  const bool skipped = result.output.find("typed tier") != std::string::npos;
  if (skipped) std::cout << "skipped: no libclang\n";
  return skipped;
}

}  // namespace

TEST_CASE("typed: without libclang the tier is skipped, and only --strict makes that count") {
  const Tree tree;
  tree.add("project/ops.cpp", source);
  const ProcessResult plain = run("/dev/null", {"--no-config", "--tier", "typed", "project"});
  CHECK(plain.status == 0);
  CHECK(plain.output.find("typed tier (/dev/null") != std::string::npos);
  const ProcessResult strict =
      run("/dev/null", {"--no-config", "--strict", "--tier", "typed", "project"});
  CHECK(strict.status == 4);
  // Nobody asked for it.
  const ProcessResult lexed = run("/dev/null", {"--no-config", "--strict", "project"});
  CHECK(lexed.status == 0);
  CHECK(lexed.output.find("typed tier") == std::string::npos);
  CHECK(run("", {"--tier", "deep", "project"}).status == 2);
}

TEST_CASE("typed: the configuration asks for it, and the command line takes it back") {
  const Tree tree;
  tree.add("project/opseal.toml", "tier = \"typed\"\n");
  tree.add("project/ops.cpp", source);
  const std::string config = "--config=project/opseal.toml";
  CHECK(run("/dev/null", {config, "--strict", "project"}).status == 4);
  CHECK(run("/dev/null", {config, "--strict", "--tier", "lexed", "project"}).status == 0);
  tree.add("project/opseal.toml", "tier = \"deep\"\n");
  CHECK(run("/dev/null", {config, "project"}).status == 2);
}

TEST_CASE("typed: a file that a build compiles is parsed with its headers") {
  const Tree tree;
  tree.add("project/csrc/ops.cpp", source);
  tree.add("framework/api.h", api_header);
  const std::vector<std::string> arguments{"--no-config", "--tier", "typed",
                                           "-o",          "json",   "project"};
  const ProcessResult alone = run("", arguments);
  if (is_skipped(alone)) return;
  // Nothing tells what `api::count_t` is.
  CHECK(alone.status == 0);
  const std::string root = tree.root().string();
  tree.add("project/build/compile_commands.json",
           R"([{"directory": ")" + root + R"(/project/build", "file": "../csrc/ops.cpp", )" +
               R"("command": "g++ -I../../framework -O2 -o ops.o -c ../csrc/ops.cpp"}])");
  const ProcessResult built = run("", arguments);
  CHECK(built.status == 1);
  CHECK(built.output.find("takes `int64_t n` where its schema has `float n`") != std::string::npos);
  CHECK(built.output.find(R"("tier":"typed")") != std::string::npos);
  // Without them it is parsed alone again.
  tree.add("project/build/compile_commands.json",
           R"([{"directory": ")" + root + R"(/project/build", "file": "../csrc/ops.cpp", )" +
               R"("command": "g++ -Igone -c ../csrc/ops.cpp"}])");
  CHECK(run("", arguments).status == 0);
}

TEST_CASE("typed: a file in CUDA is parsed as it is built, with a toolkit and without one") {
  const Tree tree;
  tree.add("framework/api.h", api_header);
  tree.add("project/csrc/ops.cu", "#include <cuda_runtime.h>\n#include <cuda_fp16.h>\n" +
                                      std::string(source) +
                                      "__global__ void fill(half* x, int n) {\n"
                                      "  const int at = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                      "  if (at < n) x[at] = half();\n}\n"
                                      "void launch(half* x, int n, cudaStream_t stream) {\n"
                                      "  fill<<<dim3(n), 256, 0, stream>>>(x, n);\n}\n");
  const std::string root = tree.root().string();
  const std::vector<std::string> arguments{"--no-config", "--tier", "typed",
                                           "-o",          "json",   "project"};
  for (const std::string toolkit : {"", " --cuda-path=/there/is/none"}) {
    tree.add("project/build/compile_commands.json",
             R"([{"directory": ")" + root + R"(/project/build", "file": "../csrc/ops.cu", )" +
                 R"("command": "nvcc -gencode arch=compute_90,code=sm_90 -I../../framework)" +
                 toolkit + R"( -o ops.o -c ../csrc/ops.cu"}])");
    const ProcessResult built = run("", arguments);
    if (is_skipped(built)) return;
    CHECK(built.output.find("takes `int64_t n` where its schema has `float n`") !=
          std::string::npos);
  }
}

TEST_CASE("typed: what is precompiled is taken as long as it is what it was") {
  const Tree tree;
  tree.add("project/csrc/ops.cpp", source);
  tree.add("framework/api.h", api_header);
  const std::string root = tree.root().string();
  tree.add("project/build/compile_commands.json",
           R"([{"directory": ")" + root + R"(/project/build", "file": "../csrc/ops.cpp", )" +
               R"("command": "g++ -I../../framework -c ../csrc/ops.cpp"}])");
  const auto files = [](const std::string& suffix) {
    std::vector<fs::path> found;
    std::error_code error;
    for (const auto& one : fs::directory_iterator("cache", error)) {
      if (one.path().extension() == suffix) found.push_back(one.path());
    }
    return found;
  };
  const auto says = [](const std::string& text, std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--no-config", "--tier", "typed", "project"});
    return run("", more).output.find(text) != std::string::npos;
  };
  const std::string wrong = "takes `int64_t n` where its schema has `float n`";
  const ProcessResult first = run("", {"--no-config", "--tier", "typed", "--no-cache", "project"});
  if (is_skipped(first)) return;
  CHECK(first.status == 1);
  CHECK_FALSE(fs::exists("cache"));
  CHECK(says(wrong));
  REQUIRE(files(".pch").size() == 1);
  REQUIRE(files(".entry").size() == 1);
  CHECK(files(".new").empty());
  const fs::path pch = files(".pch")[0];
  const fs::path entry = files(".entry")[0];

  // The same is taken again, and not made again.
  const auto made = fs::last_write_time(pch);
  CHECK(says(wrong));
  CHECK(fs::last_write_time(pch) == made);

  // Each way of damage is a miss, and what is there afterwards is whole.
  const std::string good = read_file(pch);
  const std::string good_entry = read_file(entry);
  for (const std::size_t length : {std::size_t{0}, good.size() / 2, good.size() - 1}) {
    tree.add(pch, good.substr(0, length));
    CHECK(says(wrong));
    CHECK(files(".pch").size() == 1);
    CHECK(read_file(pch).size() == good.size());
  }
  std::string other = good;
  other[other.size() / 2] = static_cast<char>(other[other.size() / 2] ^ 1);
  tree.add(pch, other);
  CHECK(says(wrong));
  CHECK(read_file(pch) == good);
  for (const std::string& text :
       {std::string(), std::string("3:abc"), good_entry.substr(0, good_entry.size() / 2)}) {
    tree.add(entry, text);
    CHECK(says(wrong));
    CHECK(read_file(entry) == good_entry);
  }

  // A header that says another thing, in as many bytes and with its old time of change.
  const fs::path header = tree.root() / "framework/api.h";
  const auto time = fs::last_write_time(header);
  std::string text = api_header;
  text.replace(text.find("typedef long"), 12, "typedef char");
  tree.add("framework/api.h", text);
  fs::last_write_time(header, time);
  CHECK_FALSE(says(wrong));
  // One that answers what the lines before it ask: the second time they would say another thing.
  const std::string asking = "#ifndef API_SEEN\n#define OTHER\n#endif\n";
  fs::remove_all("cache");
  tree.add("framework/api.h", api_header + std::string("#define API_SEEN 1\n"));
  tree.add("project/csrc/ops.cpp", asking + source);
  CHECK(says(wrong));
  CHECK(files(".pch").empty());
  tree.add("framework/api.h", api_header);
  CHECK(says(wrong));
  CHECK(files(".pch").size() == 1);
  // Where it can't be kept, it is parsed as ever.
  tree.add("framework/api.h", api_header);
  fs::remove_all("cache");
  tree.add("cache", "a file");
  CHECK(says(wrong));
}

TEST_CASE("typed: what is precompiled has no bodies, and the answers are those of the headers") {
  const Tree tree;
  tree.add(
      "framework/api.h",
      "#pragma once\n"
      "struct Owner { ~Owner() noexcept { /* } */ delete[] p; } float* data() { return p; }\n"
      "  float* at(int n) { if (n > 2) return nullptr; return p; } float* p; };\n"
      "template <class T> struct Pool { ~Pool() { delete[] p; } T* data() { return p; } T* p; };\n"
      "struct View { ~View() {} float* data() { return p; } float* p; };\n"
      "Owner owner(); Pool<float> pool(); View view();\n");
  tree.add(
      "project/csrc/ops.cpp",
      "#include <api.h>\n"
      "float run() {\n  float* a = owner().data();\n  float* b = pool().data();\n"
      "  float* c = view().data();\n  float* d = owner().at(1);\n  return *a + *b + *c + *d;\n}\n");
  const std::string root = tree.root().string();
  tree.add("project/build/compile_commands.json",
           R"([{"directory": ")" + root + R"(/project/build", "file": "../csrc/ops.cpp", )" +
               R"("command": "g++ -I../../framework -c ../csrc/ops.cpp"}])");
  const std::vector<std::string> arguments{"--no-config", "--select", "layout-temporary",
                                           "--tier",      "typed",    "project"};
  std::vector<std::string> without = arguments;
  without.emplace_back("--no-cache");
  const ProcessResult plain = run("", without);
  if (is_skipped(plain)) return;
  CHECK(plain.output.find("owner().data()") != std::string::npos);
  CHECK(plain.output.find("view().data()") == std::string::npos);
  CHECK(plain.output.find("owner().at(1)") == std::string::npos);
  CHECK(run("", arguments).output == plain.output);
  CHECK(fs::exists("cache"));
  CHECK(run("", arguments).output == plain.output);
}

}  // namespace opseal::test
