// `opseal dump`: the facts that were read, as a manifest again. The first thing to look at when a
// finding surprises.

#include <algorithm>
#include <fstream>
#include <iostream>
#include <set>
#include <string>

#include "cli/audit.h"
#include "cli/commands.h"
#include "cli/reports.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// What lies together is judged together, and one dump can't say that its parts don't.
void check_place(const Audit& audit) {
  std::set<std::uint32_t> groups;
  for (const Document& document : audit.facts.documents) groups.insert(document.group);
  if (groups.size() <= 1) return;
  throw UsageError("dump takes one directory, or files of one directory; " +
                   std::to_string(groups.size()) + " places were given");
}

}  // namespace

int dump(const Options& options) {
  const Audit audit = read_inputs(options);
  check_place(audit);
  write_problems(audit, {}, std::cerr);
  const bool unread =
      std::any_of(audit.facts.problems.begin(), audit.facts.problems.end(),
                  [](const Problem& problem) { return problem.severity == Severity::error; });
  if (audit.inputs == 0 && !unread) {
    std::cerr << "opseal: nothing to dump\n";
    return exit_code::nothing;
  }
  if (options.output.empty()) {
    write_dump(audit.facts, std::cout);
    std::cout.flush();
  } else {
    std::ofstream file(options.output, std::ios::binary);
    write_dump(audit.facts, file);
    file.close();
    if (!file) throw UsageError("can't write the dump to " + quote(options.output));
  }
  return unread ? exit_code::incomplete : exit_code::clean;
}

}  // namespace opseal
