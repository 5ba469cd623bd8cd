#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzers/probe/frameworks.h"

namespace opseal {

struct FrameworkRow {
  std::string_view name;
  // `passed`, `differs`, `crashed`, `timed_out`, `no_answer`, `skipped`
  std::string status;
  std::string reason;
  std::string expected;
  std::string seen;
  double seconds = 0;
};

struct FrameworkAnswer {
  // Of the framework; empty where it didn't come to say it.
  std::string version;
  // It is not installed.
  bool missing = false;
  // One for each row of the check, in its order.
  std::vector<FrameworkRow> rows;
};

// Runs a check to its end: however it ends, each of its rows has a status. Its files lie in a
// folder that is gone afterwards.
FrameworkAnswer run_framework_check(const Framework& framework, const FrameworkCheck& check,
                                    const std::string& python, double time_limit_seconds);

}  // namespace opseal
