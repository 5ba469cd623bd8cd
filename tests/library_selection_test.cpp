// Rules that look at built libraries have them read when they are selected alone.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/elf_libraries.h"
#include "tests/tree.h"

namespace opseal::test {
namespace {

constexpr const char* manifest =
    R"({"opseal_manifest": 1, "system": "engine",
 "operators": [{"name": "mv", "kernels": [
  {"platform": "cuda", "dtypes": ["f32"], "symbol": "offered", "library": "libkeeper.so"}]}],
 "libraries": [{"path": "libkeeper.so"}]})";

Audit audit_alone(const std::string& rule) { return audit_paths({"ops.json"}, {rule}); }

bool was_read(const Audit& audit) {
  const auto& documents = audit.facts.documents;
  return std::any_of(documents.begin(), documents.end(), [&audit](const Document& document) {
    for (const Fact entry : audit.facts.root(document)[Key::entries].items()) {
      if (document.settings && entry[Key::content].is_count()) return true;
    }
    return false;
  });
}

}  // namespace

TEST_CASE("each rule about libraries has those read that a manifest names") {
  const Tree tree;
  tree.add("ops.json", manifest);
  tree.add("libkeeper.so", read_file(elf_library("libkeeper.so")));
  for (const char* rule :
       {"api-version-skew", "arch-duplicate-kernel", "arch-uncovered", "device-arch-missing",
        "device-declared-missing", "dtype-declared-uncovered", "duplicate-alias-kernel",
        "export-missing", "export-unreachable", "handler-stage-lost", "library-needs-missing",
        "library-runtime-skew", "namespace-wrong", "registrar-duplicate-definer",
        "runpath-absolute", "spec-signature-mismatch", "symbol-kind-mismatch"}) {
    INFO(rule);
    CHECK(was_read(audit_alone(rule)));
  }
  // One that asks for none.
  CHECK(!was_read(audit_alone("platform-empty")));
}

TEST_CASE("libraries of one folder are judged together, named or found") {
  const Tree tree;
  tree.add("lib/libkeeper.so", read_file(elf_library("libkeeper.so")));
  tree.add("lib/libasker.so", read_file(elf_library("libasker.so")));
  tree.add("other/libkeeper.so", read_file(elf_library("libkeeper.so")));
  const auto group_count = [](const std::vector<std::string>& paths) {
    std::vector<std::uint32_t> groups;
    for (const Document& document : audit_paths(paths, {"library-needs-missing"}).facts.documents) {
      if (!document.settings) groups.push_back(document.group);
    }
    std::sort(groups.begin(), groups.end());
    return std::unique(groups.begin(), groups.end()) - groups.begin();
  };
  CHECK(group_count({"lib"}) == 1);
  CHECK(group_count({"lib/libasker.so", "lib/libkeeper.so"}) == 1);
  CHECK(group_count({"lib/libasker.so", "other/libkeeper.so"}) == 2);
}

TEST_CASE("what they find there doesn't rest on the choice of other rules") {
  const Tree tree;
  tree.add("ops.json", manifest);
  tree.add("libkeeper.so", read_file(elf_library("libkeeper.so")));
  const Audit audit = audit_alone("device-declared-missing");
  REQUIRE(audit.findings.size() == 1);
  CHECK(audit.findings.front().message.find("0 device images") != std::string::npos);
}

}  // namespace opseal::test
