// What two packages and their libraries promise and ask for.

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "tests/diff_support.h"

namespace opseal::test {
namespace {

using Lines = std::vector<std::string>;

std::string wheel(std::string_view tags, std::string_view libraries,
                  std::string_view more = R"("name": "ops")") {
  return R"({"opseal_manifest": 1, "distribution": {"kind": "wheel", "tags": [)" +
         std::string(tags) + "], " + std::string(more) + R"(}, "libraries": [)" +
         std::string(libraries) + "]}";
}

std::string library(std::string_view facts, std::string_view path = "ops/_ops.so") {
  return R"({"path": ")" + std::string(path) + R"(", "format": "elf", "type": "shared", )" +
         std::string(facts) + "}";
}

Lines tag_changes(std::string_view before, std::string_view after) {
  return changes_of(wheel(before, ""), wheel(after, ""));
}

Lines need_changes(std::string_view before, std::string_view after,
                   std::string_view more = R"("name": "ops")") {
  constexpr std::string_view tag = R"("cp311-cp311-linux_x86_64")";
  return changes_of(wheel(tag, library(before), more), wheel(tag, library(after), more));
}

std::string kernel(std::string_view facts) {
  return R"("images": [{"kind": "sass", "architecture": "sm_100", "kernels": [{"name": "k", )" +
         std::string(facts) + "}]}]";
}

}  // namespace

TEST_CASE("a tag that promises fewer systems loses their users") {
  CHECK(tag_changes(R"("cp311-cp311-manylinux2014_x86_64", "cp311-cp311-manylinux_2_17_x86_64")",
                    R"("cp311-cp311-manylinux_2_28_x86_64")") ==
        Lines{"breaking major wheel ops: is for `manylinux_x86_64` from 2.28 on, before from 2.17 "
              "on"});
  CHECK(tag_changes(R"("py3-none-any")", R"("cp311-cp311-manylinux_2_28_x86_64")").size() == 2);
  CHECK(tag_changes(R"("py3-none-win_amd64")", R"("py3-none-any")") ==
        Lines{"additive minor wheel ops: is for `any`, too"});
  CHECK(tag_changes(R"("py3-none-manylinux2014_x86_64")", R"("py3-none-manylinux2014_aarch64")") ==
        Lines{"breaking major wheel ops: is no longer for `manylinux_x86_64`",
              "additive minor wheel ops: is for `manylinux_aarch64`, too"});
}

TEST_CASE("wheels are paired by what they are built for, whatever way the name is written") {
  const auto built = [](std::string_view interpreter, std::string_view system,
                        std::string_view name, std::string_view symbol) {
    const std::string tag = '"' + std::string(interpreter) + '-' + std::string(interpreter) + '-' +
                            std::string(system) + '"';
    return wheel(tag, library(R"("exports": [{"name": ")" + std::string(symbol) + R"("}])"),
                 R"("name": ")" + std::string(name) + '"');
  };
  const auto list = [](const std::string& one, const std::string& other) {
    return '[' + one + ", " + other + ']';
  };
  // The oldest interpreter is dropped and a new one is served: the middle one is the same.
  CHECK(changes_of(list(built("cp39", "manylinux2014_x86_64", "ops", "nine"),
                        built("cp310", "manylinux2014_x86_64", "ops", "ten")),
                   list(built("cp310", "manylinux2014_x86_64", "ops", "ten"),
                        built("cp311", "manylinux2014_x86_64", "ops", "nine")))
            .empty());
  CHECK(changes_of(list(built("cp310", "manylinux2014_x86_64", "Demo_Ops", "here"),
                        built("cp310", "manylinux2014_x86_64", "other", "there")),
                   list(built("cp310", "manylinux2014_x86_64", "other", "there"),
                        built("cp310", "manylinux2014_x86_64", "demo-ops", "here")))
            .empty());
}

TEST_CASE("wheels for two interpreters are two files of one release") {
  CHECK(tag_changes(R"("cp311-cp311-manylinux_2_28_x86_64")",
                    R"("cp312-cp312-manylinux_2_28_x86_64")")
            .empty());
  CHECK(tag_changes(R"("cp39-abi3-manylinux_2_28_x86_64")",
                    R"("cp310-abi3-manylinux_2_28_x86_64")") ==
        Lines{"breaking major wheel ops: is for interpreters from `cp310` on, before from `cp39` "
              "on"});
  CHECK(tag_changes(R"("cp39-abi3-manylinux_2_28_x86_64")",
                    R"("cp311-cp311-manylinux_2_28_x86_64")") ==
        Lines{"breaking major wheel ops: is for one interpreter, before for the stable interface"});
}

TEST_CASE("tags of other packages are compared as words") {
  CHECK(tag_changes(R"("amd64")", R"("arm64")") ==
        Lines{"breaking major wheel ops: `tags` gained `arm64`; lost `amd64`"});
}

TEST_CASE("a need that is new has to be met by the user's system") {
  CHECK(need_changes(R"("needed": ["libc.so.6"])", R"("needed": ["libc.so.6", "libm.so.6"])")
            .empty());
  CHECK(need_changes(R"("needed": [])", R"("needed": ["libnuma.so.1"])") ==
        Lines{"breaking major wheel ops: needs `libnuma.so.1`, and did not before"});
  CHECK(need_changes(R"("needed": ["libcudart.so.12"])", R"("needed": ["libcudart.so.13"])") ==
        Lines{"breaking major wheel ops: needs `libcudart.so.13`, before `libcudart.so.12`"});
  CHECK(need_changes(R"("needed": ["libnuma.so.1"])", R"("needed": [])") ==
        Lines{"additive minor wheel ops: no longer needs `libnuma.so.1`"});
  // Nobody knows whether it needed that.
  CHECK(need_changes(R"("exports": [])", R"("needed": ["libnuma.so.1"])").empty());
  CHECK(need_changes(R"("needed": [])", R"("needed": ["libz3.so"])",
                     R"("name": "ops", "requires": ["z3-solver>=4.13"])") ==
        Lines{"additive minor wheel ops: needs `libz3.so`, and did not before"});
}

TEST_CASE("thousands of needs that changed are compared in a moment") {
  const auto needs = [](std::string_view front) {
    std::string text;
    for (int at = 0; at < 8000; ++at) {
      text += (at == 0 ? "\"lib" : ", \"lib") + std::string(front) + std::to_string(at) + ".so\"";
    }
    return wheel(R"("cp311-cp311-linux_x86_64")", library(R"("needed": [)" + text + "]"));
  };
  const Facts facts = read_two(needs("a"), needs("b"));
  const auto start = std::chrono::steady_clock::now();
  CHECK(find_changes(facts).list.size() == 16000);
  // The square of them takes many times that.
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(3));
}

TEST_CASE("a version in the name of a platform is read in all its forms") {
  CHECK(tag_changes(R"("cp311-cp311-musllinux_1_1_x86_64")",
                    R"("cp311-cp311-musllinux_1_2_x86_64")") ==
        Lines{"breaking major wheel ops: is for `musllinux_x86_64` from 1.2 on, before from 1.1 "
              "on"});
  CHECK(tag_changes(R"("cp311-cp311-macosx_11_0_arm64")", R"("cp311-cp311-macosx_10_9_arm64")") ==
        Lines{"additive minor wheel ops: is for `macosx_arm64` from 10.9 on, before from 11.0 on"});
  CHECK(tag_changes(R"("cp311-cp311-manylinux1_x86_64")", R"("cp311-cp311-manylinux_2_5_x86_64")")
            .empty());
  // No version: what can't be read is a name.
  CHECK(tag_changes(R"("cp311-cp311-manylinux_2_x86_64")", R"("cp311-cp311-manylinux_2_17")") ==
        Lines{"breaking major wheel ops: is no longer for `manylinux_2_x86_64`",
              "additive minor wheel ops: is for `manylinux_2_17`, too"});
}

TEST_CASE("what a package brings itself is no need, by whatever name") {
  constexpr std::string_view tag = R"("cp311-cp311-manylinux_2_28_x86_64")";
  const std::string before =
      wheel(tag, library(R"("needed": ["libgomp-a34b3233.so.1"])") + ", " +
                     library(R"("needed": [], "soname": "libgomp-a34b3233.so.1")",
                             "ops.libs/libgomp-a34b3233.so.1"));
  const std::string after =
      wheel(tag, library(R"("needed": ["libgomp-24e2ab19.so.1"])") + ", " +
                     library(R"("needed": [], "soname": "libgomp-24e2ab19.so.1")",
                             "ops.libs/libgomp-24e2ab19.so.1"));
  CHECK(changes_of(before, after).empty());
}

TEST_CASE("a need for a newer system counts where the tag doesn't promise it") {
  const std::string older =
      library(R"("needed": [], "version_needs": {"libc.so.6": ["GLIBC_2.17"]})");
  const std::string newer =
      library(R"("needed": [], "version_needs": {"libc.so.6": ["GLIBC_2.4", "GLIBC_2.27"]})");
  constexpr std::string_view plain = R"("cp311-cp311-linux_x86_64")";
  constexpr std::string_view promised = R"("cp311-cp311-manylinux_2_28_x86_64")";
  CHECK(changes_of(wheel(plain, older), wheel(plain, newer)) ==
        Lines{"breaking major wheel ops: needs glibc 2.27, before 2.17"});
  CHECK(changes_of(wheel(plain, newer), wheel(plain, older)) ==
        Lines{"additive minor wheel ops: needs glibc 2.17, before 2.27"});
  CHECK(changes_of(wheel(promised, older), wheel(promised, newer)).empty());
  CHECK(need_changes(R"("needed": [], "version_needs": {"libstdc++.so.6": ["GLIBCXX_3.4.9"]})",
                     R"("needed": [], "version_needs": {"libstdc++.so.6": ["GLIBCXX_3.4.30"]})") ==
        Lines{"breaking major wheel ops: asks `libstdc++.so.6` for `GLIBCXX_3.4.30`, before for "
              "`GLIBCXX_3.4.9`"});
}

TEST_CASE("a kernel that stored and now ends at once breaks its callers") {
  const std::string full = kernel(R"("writes": true)");
  const std::string hollow = kernel(R"("writes": false, "instructions": 2)");
  CHECK(need_changes(full, hollow) ==
        Lines{"breaking major ops/_ops.so: 1 kernel for `sm_100` does nothing any more: `k`"});
  CHECK(need_changes(hollow, full) ==
        Lines{"numerics minor ops/_ops.so: 1 kernel for `sm_100` stores where it did nothing: "
              "`k`"});
  CHECK(need_changes(full, kernel(R"("writes": false, "instructions": 2, "traps": true)")).empty());
  CHECK(need_changes(kernel(R"("registers": 8)"), hollow).empty());
}

TEST_CASE("modules for two interpreters are one library") {
  constexpr std::string_view tag = R"("cp311-cp311-manylinux_2_28_x86_64")";
  const std::string other = ", " + library(R"("soname": "a")", "ops/liba.so");
  CHECK(
      changes_of(
          wheel(tag, library(R"("soname": "x")", "ops/_x.cpython-311-x86_64-linux-gnu.so") + other),
          wheel(tag, library(R"("soname": "x")", "ops/_x.cpython-312-x86_64-linux-gnu.so") + other))
          .empty());
}

TEST_CASE("files below two directories are paired by their names, and a lost one is told") {
  const auto folder = [](Facts& facts, Side side, std::initializer_list<std::string_view> paths) {
    for (const std::string_view path : paths) {
      Facts part = read_text(R"({"opseal_manifest": 1, "libraries": [)" +
                             library(R"("soname": "x")", path) + "]}");
      for (Document& document : part.documents) document.side = side;
      facts.append(std::move(part));
    }
  };
  Facts facts;
  folder(facts, Side::before, {"old/a/libx.so", "old/b/libx.so", "old/liby.so"});
  folder(facts, Side::after, {"new/b/libx.so", "new/liby.so"});
  Lines lines;
  for (const Change& change : find_changes(facts).list)
    lines.push_back(change.subject + ": " + change.message);
  CHECK(lines == Lines{"old/a/libx.so: no such library any more"});
}

TEST_CASE("packages of two directories are paired by their names") {
  const auto folder = [](Facts& facts, Side side, std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
      Facts part =
          read_text(wheel(R"("py3-none-any")", "", R"("name": ")" + std::string(name) + '"'));
      for (Document& document : part.documents) document.side = side;
      facts.append(std::move(part));
    }
  };
  Facts facts;
  folder(facts, Side::before, {"a", "b"});
  folder(facts, Side::after, {"b", "c", "d"});
  Lines lines;
  for (const Change& change : find_changes(facts).list)
    lines.push_back(change.subject + ": " + change.message);
  CHECK(lines ==
        Lines{"wheel a: no such package any more", "wheel c: new package", "wheel d: new package"});
}

}  // namespace opseal::test
