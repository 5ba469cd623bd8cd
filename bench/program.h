#pragma once

#include <optional>
#include <string>
#include <vector>

namespace opseal::bench {

// What one run of a program cost.
struct Cost {
  // Seconds on the wall and of the processor.
  double wall = 0;
  double processor = 0;
  // Bytes in memory at most, mapped files among them.
  double peak = 0;
  // What it printed, where that was asked for.
  std::string output;
};

enum class Output { dropped, shown, kept };

// Nothing where the program isn't there. Throws std::runtime_error where it fails.
std::optional<Cost> run_program(std::vector<std::string> command, Output output);

// The least wall time, the least processor time and the largest peak of several runs.
std::optional<Cost> run_program_often(const std::vector<std::string>& command, int times);

// The path of this program, which starts itself again so that each run is a process of its own.
std::string own_path();

}  // namespace opseal::bench
