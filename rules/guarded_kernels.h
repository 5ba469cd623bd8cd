#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "opseal/rule.h"

namespace opseal {

// A kernel that sources define under a guard on `__CUDA_ARCH__`, with nothing, or an assertion,
// for the devices outside of it.
struct GuardedKernel {
  // Definitions of the name, all of which are such.
  std::vector<Fact> functions;
  // Launches of which it is said that the host asks nothing before them.
  std::vector<Fact> unasked;

  std::string_view guard() const { return functions.front()[Key::guard].text(); }
  bool asserts() const { return functions.front()[Key::otherwise].is("assert"); }
};

// Those of a document whose launches say what the host asks.
class GuardedKernels {
 public:
  GuardedKernels(const Facts& facts, const Document& document);

  // In the order of the document.
  const std::vector<GuardedKernel>& all() const { return kernels_; }

 private:
  std::vector<GuardedKernel> kernels_;
};

// A guard on `__CUDA_ARCH__` is sure to be false for a capability like 900. Where it hangs on more
// than comparisons with numbers, nothing is sure.
bool guard_fails(std::string_view guard, std::uint32_t architecture);

// The kernels of all documents that the host starts without a question, by name.
class UnaskedKernels {
 public:
  explicit UnaskedKernels(const Facts& facts);

  // For a device of that capability, where the kernel of this mangled name does nothing by its
  // source; null where sources don't say so.
  const GuardedKernel* find(std::string_view mangled, std::uint32_t architecture) const;

 private:
  std::unordered_map<std::string_view, GuardedKernel> kernels_;
};

}  // namespace opseal
