#pragma once

#include <string>
#include <vector>

#include "analyzers/source/invocations.h"
#include "analyzers/sources/records.h"

namespace opseal {

// A library block's own facts, for what is registered in functions that the block calls.
struct TorchTarget {
  TorchSpace space;
  // Dispatch key of an implementation block; empty elsewhere.
  std::string key;
  BuildCondition when;
};

// What a C++ source registers with torch (`torch/library.h`, its stable form, and
// `torch::RegisterOperators`).
struct TorchCpp {
  std::vector<TorchRecord> records;
  // Records of functions that take a `torch::Library&`: their namespace and key are the caller's.
  struct Delegated {
    std::string function;
    TorchRecord record;
  };
  std::vector<Delegated> delegated;
  // Calls that hand on a library: from a block, or from such a function.
  struct Call {
    std::string function;
    // Empty: from a block, whose target follows.
    std::string caller;
    TorchTarget target;
  };
  std::vector<Call> calls;

  bool empty() const { return records.empty() && delegated.empty() && calls.empty(); }
};

void read_torch_cpp(const SourceUnit& unit, const Invocations& found, TorchCpp& out);

// The records of delegated functions, once for each block that reaches them.
void add_delegated(const std::vector<TorchCpp>& files, std::vector<TorchRecord>& records);

// The name before the arguments of a schema, and whether it is one (`x(Tensor y) -> Tensor`) or a
// name alone. A namespace in front of it is taken off and replaces the space.
void set_torch_name(std::string text, TorchRecord& record);

}  // namespace opseal
