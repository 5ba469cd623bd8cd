#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyzers/probe/probe_result.h"
#include "analyzers/probe/subjects.h"

namespace opseal {

// Results that calls of declared kernels gave, kept until those of one operator are together.
class ProbeValues {
 public:
  struct Call {
    // Index of the probe's result, and of its subject.
    std::size_t result = 0;
    std::size_t subject = 0;
    // Extents, as in the plan.
    std::string sizes;
    // Bytes of each result.
    std::vector<std::string> bytes;
    // A second call with equal arguments gave the same.
    bool repeats = true;
  };

  void keep(Call call) { calls_.push_back(std::move(call)); }

  // Holds each kernel's values against a better one's of the same operator and the same extents:
  // the one of it, or else of an alternative, whose dtypes are all 64 bits wide, or else the first
  // alternative's. What may lie between them is what the two state (`precision`). Where nobody
  // states anything, floating results of two kernels that repeat theirs are held against each other
  // loosely: apart by more than half of their digits they are two different functions. Exact
  // numbers are not, since alternatives may choose differently between equals.
  void judge(const std::vector<ProbeSubject>& subjects, std::vector<ProbeResult>& results) const;

 private:
  std::vector<Call> calls_;
};

}  // namespace opseal
