#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "rules/two_dumps.h"

namespace opseal {

// Which kernels a call on a platform can end in, for many platforms of one operator: `reached`
// gives what `kernels_reached` does without walking all of them.
class KernelIndex {
 public:
  // Needs: sorted as `serving_kernels` gives them. The list has to outlive the index.
  explicit KernelIndex(const std::vector<ServingKernel>& kernels);

  std::vector<ServingKernel> reached(const Platform& platform) const;

 private:
  // The kernels of one platform, by place in the list.
  struct Group {
    std::size_t first = 0;
    std::size_t end = 0;
  };

  void append(const Group& group, const Platform& platform, std::vector<ServingKernel>& to) const;

  const std::vector<ServingKernel>& kernels_;
  // Platforms that a table of ours has: a few dozen at most.
  std::vector<Group> known_;
  // The others, which only their own word reaches, by that in lower case.
  std::unordered_multimap<std::string, Group> unknown_;
};

// torch's own kernel for gradients, for every device.
bool is_gradient_kernel(const ServingKernel& row);
bool has_gradient_kernel(const std::vector<ServingKernel>& kernels);

// Whether one of the kernels that a call reaches in the second dump does what a lost one on the
// platform did. `beside_gradient`: `Autograd` stood beside the lost one.
bool is_replaced(const Platform& platform, bool beside_gradient,
                 const std::vector<ServingKernel>& reached);

// The operator works without a kernel, or goes on to another operator or platform.
bool works_without_kernel(const Fact& op);

// Calls on a platform for which nothing is registered go on to another, for every operator.
bool platform_falls_back(const Fact& manifest, const Fact& written, PlatformNames& names);

// A manifest could show a kernel for the platform as well as the other one, as far as the devices
// of their machines go (`devices`). True for what isn't hardware.
bool could_show(const Fact& manifest, const Fact& other, const Fact& written, PlatformNames& names);

}  // namespace opseal
