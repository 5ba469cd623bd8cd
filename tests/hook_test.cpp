// The hook for pre-commit, by its own entry: whatever files a commit has, it fails for findings
// alone.

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

#include "cli/audit.h"
#include "cli/options.h"
#include "tests/support.h"
#include "tests/tree.h"

namespace opseal::test {
namespace {

// What the hook's process ends with, given these files.
int run_hook(const std::vector<std::string>& files) {
  const std::string text = read_file(source_dir() / ".pre-commit-hooks.yaml");
  const std::string mark = "entry: ";
  const std::size_t begin = text.find(mark) + mark.size();
  std::istringstream entry(text.substr(begin, text.find('\n', begin) - begin));
  std::vector<std::string> words;
  for (std::string word; entry >> word;) words.push_back(word);
  words.insert(words.end(), files.begin(), files.end());
  std::vector<const char*> pointers;
  for (const std::string& word : words) pointers.push_back(word.c_str());
  const Parsed parsed = parse_command_line(static_cast<int>(pointers.size()), pointers.data());
  REQUIRE(parsed.options.has_value());
  return run_audit(*parsed.options).exit_code;
}

constexpr const char* lacking =
    "Tensor scale(const Tensor& x) { return x; }\n"
    "TORCH_LIBRARY(demo, m) {\n"
    "  m.def(\"scale(Tensor x, float by) -> Tensor\");\n"
    "  m.impl(\"scale\", torch::kCPU, &scale);\n"
    "}\n";

}  // namespace

TEST_CASE("a commit fails for its findings, and not since nothing registers any more") {
  const Tree tree;
  tree.add("ops.cpp", lacking);
  CHECK(run_hook({"ops.cpp"}) == exit_code::findings);
  for (const char* mended :
       {"", "int answer() { return 42; }\n",
        "void run(float* x) { scale<<<1, 1>>>(x); check(cudaGetLastError()); }\n"}) {
    tree.add("ops.cpp", mended);
    CHECK(run_hook({"ops.cpp"}) == exit_code::clean);
  }
  tree.add("plain.py", "print(42)\n");
  tree.add("package.json", "{\"name\": \"no manifest\"}");
  tree.add("empty.json", "");
  CHECK(run_hook({"plain.py", "package.json", "empty.json", "ops.cpp"}) == exit_code::clean);
  // One that can't be read is no commit without registrations.
  tree.add("broken.json", "{\"opseal_manifest\": 1, ");
  CHECK(run_hook({"plain.py", "broken.json"}) == exit_code::incomplete);
}

TEST_CASE("without the hook's option a run that looks at nothing says so") {
  const Tree tree;
  tree.add("csrc/ops.cpp", "int answer() { return 42; }\n");
  Options options;
  options.paths = {"csrc"};
  CHECK(run_audit(options).exit_code == exit_code::nothing);
}

}  // namespace opseal::test
