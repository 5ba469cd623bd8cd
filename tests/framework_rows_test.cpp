// What the text report says of frameworks, and of operators that they called.

#include "cli/framework_rows.h"

#include <doctest/doctest.h>

#include <sstream>

#include "tests/support.h"

namespace opseal::test {

TEST_CASE("framework rows: an operator's calls are told together") {
  Facts facts = read_text(R"({"opseal_manifest": 1, "probes": [
    {"kind": "framework", "system": "torch", "version": "2.15", "name": "batch", "status": "passed", "seen": "as separate calls"},
    {"kind": "framework", "system": "torch", "version": "2.15", "name": "fake", "operator": "my::norm", "status": "passed", "seen": "float32[3]"},
    {"kind": "framework", "system": "torch", "version": "2.15", "name": "fake", "operator": "my::norm", "status": "passed", "seen": "float32[0]"},
    {"kind": "framework", "system": "torch", "version": "2.15", "name": "gradient", "operator": "my::norm", "input": "x", "status": "differs", "expected": "<J v, w> = 2", "seen": "<v, Jt w> = 3"},
    {"kind": "framework", "system": "torch", "version": "2.15", "name": "gradient", "operator": "my::norm", "input": "w", "status": "passed", "seen": "<v, Jt w> = 1"},
    {"kind": "framework", "system": "torch", "version": "2.15", "name": "batch", "operator": "my::norm", "status": "skipped", "reason": "is refused"},
    {"kind": "framework", "system": "torch", "version": "2.15", "name": "fake", "operator": "my::scan", "status": "passed", "seen": "float32[3]"}
  ]})");
  std::ostringstream nothing;
  write_framework_rows(facts, nothing);
  CHECK(nothing.str().empty());
  // As `opseal probe` states them.
  facts.documents.front().settings = true;
  std::ostringstream out;
  write_framework_rows(facts, out);
  CHECK(out.str() == R"(torch 2.15:
  passed     batch  as separate calls
  my::norm:
    passed     fake        2 calls
    differs    gradient x  1 call: <v, Jt w> = 3; expected <J v, w> = 2
    passed     gradient w  1 call
    skipped    batch       1 call: is refused
  my::scan:
    passed     fake  1 call
)");
}

}  // namespace opseal::test
