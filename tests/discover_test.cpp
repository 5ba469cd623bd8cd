// What is read below a directory, and what never happens while it is looked for.

#include "cli/discover.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>

#include "cli/process.h"
#include "tests/support.h"
#include "tests/tree.h"

namespace fs = std::filesystem;

namespace opseal::test {
namespace {

constexpr const char* manifest = R"({"opseal_manifest": 1, "operators": [{"name": "add"}]})";

// False when there is no git here.
bool git(std::vector<std::string> words) {
  words.insert(words.begin(), {"git", "-c", "user.name=t", "-c", "user.email=t@example.org"});
  return run_process(words).status == 0;
}

Discovered find(const std::vector<std::string>& paths, const std::vector<Exclusion>& exclude = {}) {
  Options options;
  options.paths = paths;
  Settings settings;
  settings.exclude = exclude;
  return discover(options, settings);
}

std::string names(const Discovered& found) {
  std::string text;
  for (const Discovered::Input& input : found.inputs) text += input.file.path + ' ';
  return text;
}

}  // namespace

TEST_CASE("each file's kind is told by its content") {
  Tree tree;
  tree.add("a.json", manifest);
  tree.add("sub/no_ending", manifest);
  tree.add("other.json", R"({"name": 1})");
  tree.add("text.txt", "opseal_manifest");
  const Discovered found = find({"."});
  CHECK(names(found) == "a.json sub/no_ending ");
  CHECK(found.other_files == 2);
  CHECK(found.problems.empty());
}

TEST_CASE("a manifest whose keys were sorted has its mark at the end of a large file") {
  Tree tree;
  std::string operators;
  for (int i = 0; i < 10000; ++i) operators += std::string(i > 0 ? "," : "") + R"({"name": "op"})";
  tree.add("sorted.json", R"({"operators": [)" + operators + R"(], "opseal_manifest": 1})");
  tree.add("schema.json", R"({"properties": {"opseal_manifest": {"const": 1}}})");
  CHECK(names(find({"."})) == "sorted.json ");
}

TEST_CASE("a manifest's mark is found wherever it stands in the first 64 KiB") {
  // The first key is none of the format's, so that only the mark can tell.
  for (const std::size_t before : {0u, 4000u, 4070u, 4080u, 4096u, 5000u, 60'000u}) {
    Tree tree;
    tree.add("a.json", R"({"_about": ")" + std::string(before, 'x') +
                           R"(", "opseal_manifest": 1, "operators": []})");
    INFO(before << " bytes in front");
    CHECK(names(find({"."})) == "a.json ");
  }
}

TEST_CASE("where the first bytes end inside the mark, a schema is no manifest") {
  // The colon behind the mark is the last of the 4,096 bytes that are read first, and of 64 KiB.
  for (const std::size_t end : {std::size_t{4096}, head_size}) {
    Tree tree;
    const std::string front = R"({"operators": ")";
    const std::string mark = R"(", "opseal_manifest":)";
    tree.add("a.json", front + std::string(end - front.size() - mark.size(), 'x') + mark +
                           R"( {"const": 1}})");
    INFO("colon at byte " << end);
    CHECK(names(find({"."})) == "");
  }
}

TEST_CASE("files that git ignores are left out, unless they or their directory are given by name") {
  Tree tree;
  if (!git({"init", "-q", "."})) return;
  tree.add(".gitignore", "build/\n");
  tree.add("a.json", manifest);
  tree.add("build/b.json", manifest);
  CHECK(names(find({"."})) == "a.json ");
  CHECK(names(find({"build"})) == "build/b.json ");
  CHECK(names(find({"build/b.json"})) == "build/b.json ");
}

TEST_CASE("nothing that the tree's own git configuration names is run") {
  Tree tree;
  if (!git({"init", "-q", "."})) return;
  tree.add("a.json", manifest);
  git({"config", "core.fsmonitor", "touch " + (tree.root() / "ran").string() + "; true"});
  CHECK(names(find({"."})) == "a.json ");
  CHECK(!fs::exists(tree.root() / "ran"));
}

TEST_CASE("a submodule that is not checked out ends no run") {
  Tree tree;
  if (!git({"init", "-q", "."})) return;
  tree.add("a.json", manifest);
  fs::create_directory("module");
  REQUIRE(git({"update-index", "--add", "--cacheinfo",
               "160000,1234567890123456789012345678901234567890,module"}));
  CHECK(names(find({"."})) == "a.json ");
}

TEST_CASE("symbolic links lead to no file outside the given directory") {
  Tree tree;
  tree.add("inside/a.json", manifest);
  tree.add("outside/b.json", manifest);
  fs::create_symlink("../outside/b.json", "inside/link.json");
  fs::create_directory_symlink(".", "inside/loop");
  CHECK(names(find({"inside"})) == "inside/a.json ");
}

TEST_CASE(
    "patterns of exclude are relative to where they are written, or match any part of a path") {
  Tree tree;
  tree.add("third_party/x/a.json", manifest);
  tree.add("sub/third_party/b.json", manifest);
  tree.add("sub/c.json", manifest);
  const std::string here = tree.root().string();
  CHECK(names(find({"."}, {{"third_party", here}})) == "sub/c.json ");
  CHECK(names(find({"."}, {{"sub/*", here}})) == "third_party/x/a.json ");
  CHECK(names(find({"."}, {{"third_party/*", here + "/sub"}})) ==
        "sub/c.json third_party/x/a.json ");
  const Discovered found = find({"."}, {{"nothing", here}});
  REQUIRE(found.remarks.size() == 1);
  CHECK(found.remarks[0] == "`exclude`: no file matches `nothing`");
}

TEST_CASE("what a manifest says of itself is told, a few of it") {
  Tree tree;
  const auto saying = [](const std::string& remarks) {
    return R"({"opseal_manifest": 1, "system": "engine", "operators": [{"name": "mv"}],)"
           R"( "remarks": [)" +
           remarks + "]}";
  };
  std::ofstream("a.json") << saying(R"("partial: no GPU")");
  std::ofstream("b.json") << saying(R"("1", "2", "3", "4", "5", "6", "7")");
  const auto told = [](const Audit& audit) {
    std::string text;
    for (const Problem& problem : audit.facts.problems) {
      CHECK((problem.severity == Severity::note));
      text += problem.message + '\n';
    }
    return text;
  };
  const Audit audit = audit_paths({"a.json"}, {});
  CHECK(told(audit) == "remark of the manifest: partial: no GPU\n");
  CHECK(audit.exit_code == exit_code::clean);
  const std::string both = told(diff_paths("a.json", "b.json", {}, {}));
  CHECK(both.find("remark of the manifest before: partial: no GPU\n") != both.npos);
  CHECK(both.find("remark of the manifest after: 5; 2 further remarks not shown\n") != both.npos);
}

TEST_CASE("what lies in the place of a library is named") {
  Tree tree;
  tree.add("d/zero.so", "");
  tree.add("d/zero.so.1", "");
  tree.add("d/zero.txt", "");
  tree.add("d/text.so", "hello");
  tree.add("d/lfs.so", "version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 1\n");
  tree.add("d/libc.so", "/* a comment */\nGROUP ( libc.so.6 )\n");
  const Discovered found = find({"d"});
  CHECK(found.other_files == 6);
  REQUIRE(found.problems.size() == 2);
  CHECK(found.problems[0].message ==
        "named like a library, and is empty; so is 1 other file of a library's name");
  CHECK(found.problems[0].severity == Severity::warning);
  CHECK(found.problem_files[0].path.starts_with("d/zero.so"));
  CHECK(found.problems[1].message ==
        "named like a library, and is a pointer of Git LFS, not the file that it stands for");
  CHECK(found.problem_files[1].path == "d/lfs.so");
  REQUIRE(found.remarks.size() == 1);
  CHECK(found.remarks[0] ==
        "not looked at: `d/libc.so` is a GNU linker script, which only a linker reads");
  const Discovered given = find({"d/lfs.so", "d/text.so"});
  REQUIRE(given.problems.size() == 2);
  CHECK(given.problems[0].message == "is a pointer of Git LFS, not the file that it stands for");
  CHECK(given.problems[0].severity == Severity::error);
  CHECK(given.problems[1].message.starts_with("of no kind that opseal reads"));
}

TEST_CASE("a directory that can't be read is a problem, not an empty one") {
  Tree tree;
  tree.add("a.json", manifest);
  tree.add("closed/b.json", manifest);
  fs::permissions("closed", fs::perms::none);
  // Root reads everything.
  const Discovered found = find({"."});
  CHECK(found.problems.size() == (::geteuid() == 0 ? 0 : 1));
  fs::permissions("closed", fs::perms::owner_all);
}

}  // namespace opseal::test
