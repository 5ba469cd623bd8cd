#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/probe/frameworks.h"

namespace opseal {

struct FrameworkRow {
  std::string name;
  // Of an operator: which, and by which call of its plan; empty: of the framework itself.
  std::string operator_name;
  std::string call;
  // Of which input it speaks, if of one.
  std::string input;
  // `passed`, `differs`, `refused`, `crashed`, `timed_out`, `no_answer`, `skipped`
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
  // A module that was named for import could not be: which, and why. Nothing was asked then.
  std::string failed_import;
  // What the sandbox could not do on this machine.
  std::vector<std::string> lacks;
  // One for each row of the check, in its order.
  std::vector<FrameworkRow> rows;
};

struct FrameworkRunner {
  // Becomes the child that shuts itself in, and then the interpreter. Empty: the interpreter is
  // started as it is.
  std::string program;
  std::string python;
  double time_limit_seconds = 0;
};

// Runs a check to its end: however it ends, each of its rows has a status. Its files lie in a
// folder that is gone afterwards.
FrameworkAnswer run_framework_check(const Framework& framework, const FrameworkCheck& check,
                                    const FrameworkRunner& runner);

// Rows of calls that an operator's plan (see framework_operators.h) asks for. One whose process
// came to no good end has a row `operator` besides.
FrameworkAnswer run_framework_operator(const Framework& framework, const std::string& plan,
                                       const FrameworkRunner& runner);

// Not for users: how the program starts itself.
inline constexpr std::string_view framework_child_argument = "--framework-child";

// `FOLDER PROGRAM [ARGUMENT]...`: shuts this process in, so that it can change files in the folder
// alone, and becomes the program. Comes back, with an exit status, only where that fails.
int run_framework_child(std::span<char* const> arguments);

}  // namespace opseal
