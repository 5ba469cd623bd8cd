// What a library keeps to itself and another asks for, in files that a compiler made.

#include "analyzers/hidden_symbols.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/archive_maker.h"
#include "tests/elf_libraries.h"
#include "tests/tree.h"

namespace opseal::test {
namespace {

// `error: message` of each finding about symbols, sorted.
std::vector<std::string> said_of(const std::string& path) {
  const Audit audit = audit_paths({path}, {"library-needs-missing"});
  std::vector<std::string> said;
  for (const Finding& finding : audit.findings) {
    if (finding.message.find("keeps to itself") == std::string::npos) continue;
    const bool error = finding.severity == Severity::error;
    said.push_back((error ? "error: " : "warning: ") + finding.message);
  }
  std::sort(said.begin(), said.end());
  return said;
}

const std::vector<std::string>& expected() {
  static const std::vector<std::string> both = {
      "error: needs `kept_by_script`, which `libkeeper.so` defines and keeps to itself, and no "
      "library beside it exports",
      "error: needs `kept_by_visibility`, which `libkeeper.so` defines and keeps to itself, and no "
      "library beside it exports"};
  return both;
}

}  // namespace

TEST_CASE("a definition that a library keeps to itself is found where another needs it") {
  const Tree tree;
  tree.add("lib/libasker.so", read_file(elf_library("libasker.so")));
  tree.add("lib/libkeeper.so", read_file(elf_library("libkeeper.so")));
  CHECK(said_of("lib") == expected());
}

TEST_CASE("in a package, too, where its member is read once more") {
  const Tree tree;
  tree.add(
      "ops-1.0-py3-none-any.whl",
      make_archive({{.path = "ops/libasker.so", .bytes = read_file(elf_library("libasker.so"))},
                    {.path = "ops/libkeeper.so", .bytes = read_file(elf_library("libkeeper.so"))}},
                   "zip"));
  CHECK(said_of("ops-1.0-py3-none-any.whl") == expected());
}

TEST_CASE("a stripped library tells nothing of what it keeps") {
  const Tree tree;
  tree.add("lib/libasker.so", read_file(elf_library("libasker.so")));
  tree.add("lib/libkeeper.so", read_file(elf_library("libkeeper_stripped.so")));
  CHECK(said_of("lib").empty());
}

TEST_CASE("an exported function of two names says so, and its neighbour doesn't") {
  const Audit audit = audit_paths({elf_library("libkeeper.so").string()}, {"export-missing"});
  std::string said;
  for (const Document& document : audit.facts.documents) {
    for (const Fact library : audit.facts.root(document)[Key::libraries].items()) {
      for (const Fact symbol : library[Key::exports].items()) {
        said += std::string(symbol[Key::name].text()) + ':' +
                std::string(symbol[Key::alias_of].text()) + ' ';
      }
    }
  }
  CHECK(said.find("offered_alias:offered ") != std::string::npos);
  CHECK(said.find("offered: ") != std::string::npos);
  CHECK(said.find("other: ") != std::string::npos);
}

}  // namespace opseal::test
