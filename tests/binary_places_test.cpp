// Places in files that have no lines.

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "analyzers/fact_writer.h"
#include "cli/place_names.h"
#include "cli/places.h"
#include "rules/rules.h"
#include "tests/support.h"

namespace opseal::test {
namespace {

constexpr std::uint32_t library_file = 1;

void write_export(FactWriter& writer, const char* name, std::uint64_t offset) {
  const std::uint32_t object = writer.open(Key::none, NodeType::object, offset);
  writer.add_text(Key::name, name, offset, 8);
  writer.close(object, offset + 24);
}

// A package with one library, whose exports stand in another order than their table.
Facts package_facts() {
  Facts facts;
  for (const char* path : {"p.whl", "p.whl!/a.so"}) {
    InputFile file;
    file.path = path;
    file.size = 1000;
    file.binary = true;
    facts.files.push_back(file);
  }
  FactWriter writer(facts);
  Document document;
  document.first = writer.next();
  const std::uint32_t root = writer.open(Key::none, NodeType::object, 0);
  const std::uint32_t libraries = writer.open(Key::libraries, NodeType::list, 0);
  facts.other_files.push_back({writer.next(), library_file});
  const std::uint32_t library = writer.open(Key::none, NodeType::object, 0);
  writer.add_text(Key::path, "a.so", 0, 0);
  const std::uint32_t exports = writer.open(Key::exports, NodeType::list, 0);
  write_export(writer, "f", 500);
  write_export(writer, "g", 100);
  writer.close(exports, 0);
  writer.close(library, 1000);
  writer.close(libraries, 0);
  writer.close(root, 0);
  document.end = writer.next();
  facts.documents.push_back(document);
  return facts;
}

}  // namespace

TEST_CASE("a place in a binary file is named by the fact that stands there") {
  const Facts facts = package_facts();
  CHECK(logical_name(facts, {library_file, 24, 100}) == "/libraries/0/exports/1");
  CHECK(logical_name(facts, {library_file, 8, 100}) == "/libraries/0/exports/1/name");
  CHECK(stable_name(facts, {library_file, 24, 500}) == "libraries/exports");
  CHECK(logical_name(facts, {library_file, 24, 300}) == "");
  CHECK(logical_name(facts, {library_file, 0, 0}) == "");
  CHECK(logical_name(facts, {0, 24, 100}) == "");
}

TEST_CASE("a place in a binary file has no line and no excerpt") {
  Facts facts = package_facts();
  facts.files[library_file].bytes = std::string(1000, 'x');
  Places places(facts);
  CHECK(places.position({library_file, 24, 100}).line == 0);
  CHECK(places.excerpt({library_file, 24, 100}, 80).text == "");
}

TEST_CASE("reports tell a place in a binary file by its bytes") {
  Audit audit;
  audit.facts = package_facts();
  Finding finding;
  finding.rule = find_rule("wheel-tag-glibc");
  finding.subject = "library a.so";
  finding.message = "says something";
  finding.evidence = {{library_file, 24, 100}, "seen here"};
  audit.findings.push_back(finding);
  RuleRun run;
  run.rule = finding.rule;
  audit.runs.push_back(run);
  CHECK(
      report(audit, "text")
          .starts_with(
              "p.whl!/a.so: error: library a.so: says something [wheel-tag-glibc]\n  seen here\n"));
  const std::string json = report(audit, "json");
  CHECK(json.find(R"("path":"p.whl!/a.so","offset":100,"length":24,"logical":)"
                  R"("/libraries/0/exports/1")") != std::string::npos);
  const std::string sarif = report(audit, "sarif");
  CHECK(sarif.find(R"("region":{"byteOffset":100,"byteLength":24})") != std::string::npos);
  CHECK(sarif.find(R"("uri":"p.whl!/a.so")") != std::string::npos);
}

}  // namespace opseal::test
