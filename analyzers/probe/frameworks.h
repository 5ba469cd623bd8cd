#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/probe/probes.h"
#include "opseal/facts.h"

namespace opseal {

// What is run in one process, or in two that are compared: one function of a script in
// `analyzers/probe/python`. Each of its rows is one probe.
struct FrameworkCheck {
  std::string_view name;
  std::vector<std::string_view> rows;
  // In two processes, which are told `first` and `second`: what they see has to be equal.
  bool twice = false;
  // Why it isn't run at all; empty: it is.
  std::string_view lack{};
  // How many rows there are the process says: each is of an operator that it names.
  bool open = false;
};

struct Framework {
  // Also of the Python package and of the script, `probe_NAME.py`.
  std::string_view name;
  std::vector<FrameworkCheck> checks;
  // Whether its script calls operators that a manifest describes.
  bool calls_operators = false;
};

// In the order of their names.
std::span<const Framework> all_frameworks();

struct FrameworkOptions {
  // The program itself, which becomes the processes: so they are shut in. Empty: they are not.
  std::string program;
  // As for `opseal export`: a path, a name on PATH, or empty.
  std::string python;
  std::vector<std::string> frameworks;
  // Modules of Python that register operators, imported before these are called.
  std::vector<std::string> imports;
  // Of generated inputs.
  std::uint32_t seed = 1;
  // Processes at once; 0: as many as there are processors.
  unsigned workers = 0;
  // For one process.
  double time_limit_seconds = 300;
  // Globs over identities (`NAME/ROW`); empty: all.
  std::vector<std::string> only;
  std::function<void(std::size_t, std::size_t)> progress;
};

// Asks frameworks themselves what they do, each check in a Python process of its own; calls through
// them the operators of manifests, each operator in one; and states the rows as `probes` of a
// document of its own. An interpreter or a framework that is not there is a problem of `facts`.
ProbeRun run_framework_probes(const FrameworkOptions& options, Facts& facts);

}  // namespace opseal
