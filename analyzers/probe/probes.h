#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "opseal/facts.h"

namespace opseal {

struct ProbeOptions {
  // The program itself, which becomes the children.
  std::string program;
  // Children at once; 0: as many as there are processors.
  unsigned workers = 0;
  // Of the generated inputs.
  std::uint32_t seed = 1;
  // For one probe.
  double time_limit_seconds = 10;
  // Globs over identities; empty: all.
  std::vector<std::string> only;
  // Modules that are imported, by the interpreter `python` (as for `opseal export`), because they
  // hand out handlers that no library exports.
  std::vector<std::string> imports;
  std::string python;
  // Called now and then with how many probes are done of how many.
  std::function<void(std::size_t, std::size_t)> progress;
};

struct ProbeRun {
  std::size_t probes = 0;
  // What the sandbox could not do on this machine.
  std::vector<std::string> lacks;
};

// Calls what the inputs hold: handlers of XLA's FFI in built libraries, and C functions that a
// manifest describes, each in a child process that is shut in, and states what they did as `probes`
// of a document of its own. Needs: every input was read and artefacts were stated. This is the only
// step that runs code of an input.
ProbeRun run_probes(const ProbeOptions& options, Facts& facts);

}  // namespace opseal
