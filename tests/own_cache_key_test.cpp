// The key of opseal's own cache, read by opseal's own rules.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "cli/process.h"
#include "tests/support.h"
#include "tests/tree.h"

namespace opseal::test {
namespace {

const std::string key_source = "analyzers/clang/headers_key.cpp";

std::string report_on(const std::string& folder) {
  return run_process({OPSEAL_BINARY, "check", "--no-config", "--profile", "audit", "--select",
                      "cache-*,key-*", "-o", "json", folder})
      .output;
}

std::size_t inspected_by(const std::string& rule, const std::string& report) {
  const std::string mark = "{\"rule\":\"" + rule + "\",\"state\":\"ran\",\"inspected\":";
  const std::size_t at = report.find(mark);
  return at == std::string::npos ? 0 : std::stoul(report.substr(at + mark.size()));
}

bool has_findings(const std::string& report) {
  return report.find("\"error\":0,\"warning\":0,\"note\":0") == std::string::npos;
}

// The statement that has the field goes.
std::string without(const std::string& field, std::string text) {
  const std::size_t at = text.find("key." + field);
  REQUIRE(at != std::string::npos);
  const std::size_t begin = text.rfind('\n', at) + 1;
  return text.erase(begin, text.find(";\n", at) + 2 - begin);
}

}  // namespace

TEST_CASE("own cache: the rules look at its key, and find nothing") {
  const std::string report = report_on((source_dir() / "analyzers/clang").string());
  CHECK(inspected_by("cache-key-field-missing", report) == 1);
  CHECK_FALSE(has_findings(report));
}

TEST_CASE("own cache: a field that the name leaves out is told") {
  const Tree tree;
  const std::string whole = read_file(source_dir() / key_source);
  tree.add("own/headers_key.h", read_file(source_dir() / "analyzers/clang/headers_key.h"));
  for (const char* field :
       {"program", "libclang", "target", "directory", "flags", "memory", "toolchain", "block"}) {
    INFO(field);
    tree.add("own/headers_key.cpp", without(field, whole));
    const std::string report = report_on("own");
    CHECK(inspected_by("cache-key-field-missing", report) == 1);
    CHECK(report.find('`' + std::string(field) + '`') != std::string::npos);
    CHECK(has_findings(report));
  }
  tree.add("own/headers_key.cpp", whole);
  CHECK_FALSE(has_findings(report_on("own")));
}

}  // namespace opseal::test
