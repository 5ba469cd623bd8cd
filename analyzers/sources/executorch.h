#pragma once

#include <string>
#include <vector>

#include "analyzers/source/invocations.h"
#include "analyzers/sources/placed_writer.h"
#include "analyzers/sources/records.h"

namespace opseal {

// A kernel that a file puts in ExecuTorch's registry.
struct ExecutorchRecord {
  std::string name_space;
  // With the overload: `update_cache.out`.
  PlacedName name;
  SourceFunction function;
  BuildCondition when;
  std::string macro;
  SourcePlace place;
  // In a list that the file itself hands to the registry when the program starts.
  bool by_hand = false;
};

// `EXECUTORCH_LIBRARY(ns, "op.out", function)`, and `Kernel("ns::op.out", function)` in files that
// call `register_kernels`, or `register_kernel` for one.
void read_executorch_cpp(const SourceUnit& unit, const Invocations& found,
                         std::vector<ExecutorchRecord>& records);

// Writes `operators`, one for each kernel. Needs: an open document.
void write_executorch(const std::vector<ExecutorchRecord>& records,
                      const std::vector<std::string>& paths, PlacedWriter& writer);

}  // namespace opseal
