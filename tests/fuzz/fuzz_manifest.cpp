// Any bytes at all, read as a manifest, judged by every rule and reported.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>

#include "analyzers/analyzers.h"
#include "cli/reports.h"
#include "rules/rules.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  opseal::InputFile input;
  input.path = "ops.json";
  input.bytes.assign(reinterpret_cast<const char*>(data), size);
  input.size = size;
  opseal::Audit audit;
  audit.inputs = 1;
  audit.facts = opseal::load_file(opseal::all_analyzers().front(), std::move(input));
  audit.runs = opseal::run_rules(opseal::all_rules(), audit.facts, 1, audit.findings);
  for (const opseal::Problem& problem : audit.facts.problems) {
    require(problem.where.offset + problem.where.length <= size);
  }
  for (const opseal::Finding& finding : audit.findings) {
    const opseal::Location& where = finding.evidence.where;
    require(!where.known() || where.offset + where.length <= size);
  }
  require(!audit.facts.documents.empty() || !audit.facts.problems.empty());
  std::ostringstream out;
  opseal::write_text(audit, {}, out);
  return 0;
}
