#pragma once

#include <string>
#include <vector>

namespace opseal {

struct ProcessResult {
  // False when the program could not be started.
  bool started = false;
  // Exit status, or 128 and the signal.
  int status = -1;
  std::string output;
  // The first 64 KiB.
  std::string errors;
};

// Runs a program found on PATH without a shell, with standard input empty, and waits for it.
ProcessResult run_process(const std::vector<std::string>& arguments);

}  // namespace opseal
