#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compare/change_list.h"
#include "rules/lost_kernels.h"

namespace opseal {

// Kernels of one operator that only one of two dumps has under a platform and backend.
class KernelPresence {
 public:
  // The serving kernels of the two dumps, which have to outlive this.
  KernelPresence(const Compared& compared, const std::vector<ServingKernel>& before,
                 const std::vector<ServingKernel>& after);

  // Each takes all kernels of one platform and backend, at least one.
  void removed(const std::vector<ServingKernel>& then);
  void added(const std::vector<ServingKernel>& now);

 private:
  struct Meaning {
    Impact impact;
    std::string_view text;
  };

  Meaning meaning_of_loss(const ServingKernel& lost);
  Meaning meaning_of_lost_gradient(const ServingKernel& lost) const;
  Meaning meaning_of_lost_wrapper(const ServingKernel& lost) const;
  bool is_served(const ServingKernel& lost);
  bool has(std::string_view platform) const;

  const Compared& compared_;
  const std::vector<ServingKernel>& after_;
  const KernelIndex index_;
  const bool known_before_;
  const bool known_after_;
  const bool beside_gradient_;
  // The last platform that was asked for, and the answer: thousands of kernels may share one.
  std::string_view asked_;
  bool replaced_ = false;
};

}  // namespace opseal
