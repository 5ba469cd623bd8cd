#pragma once

#include <string>
#include <string_view>
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
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const GuardedKernel& kernel : kernels_) visit(kernel);
  }
  // Null where there is none of the name.
  const GuardedKernel* find(std::string_view name) const;

 private:
  std::vector<GuardedKernel> kernels_;
};

}  // namespace opseal
