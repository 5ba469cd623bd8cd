#include "rules/lost_kernels.h"

#include <algorithm>

#include "opseal/text.h"

namespace opseal {

KernelIndex::KernelIndex(const std::vector<ServingKernel>& kernels) : kernels_(kernels) {
  for (std::size_t first = 0; first < kernels.size();) {
    Group group{first, first};
    const Platform& platform = kernels[first].platform;
    while (group.end < kernels.size() && kernels[group.end].platform.name == platform.name)
      ++group.end;
    first = group.end;
    if (platform.role == PlatformRole::wrapper) continue;
    if (platform.role == PlatformRole::unknown) {
      unknown_.emplace(lower(platform.name), group);
    } else {
      known_.push_back(group);
    }
  }
}

void KernelIndex::append(const Group& group, const Platform& platform,
                         std::vector<ServingKernel>& to) const {
  for (std::size_t at = group.first; at < group.end; ++at) {
    const ServingKernel& row = kernels_[at];
    if (!row.stub && platform_reaches(platform, row.platform)) to.push_back(row);
  }
}

std::vector<ServingKernel> KernelIndex::reached(const Platform& platform) const {
  std::vector<ServingKernel> rows;
  for (const Group& group : known_) append(group, platform, rows);
  const auto [first, end] = unknown_.equal_range(lower(platform.name));
  for (auto found = first; found != end; ++found) append(found->second, platform, rows);
  return rows;
}

bool is_gradient_kernel(const ServingKernel& row) { return row.platform.name == "autograd"; }

bool has_gradient_kernel(const std::vector<ServingKernel>& kernels) {
  return std::any_of(kernels.begin(), kernels.end(), is_gradient_kernel);
}

bool is_replaced(const Platform& platform, bool beside_gradient,
                 const std::vector<ServingKernel>& reached) {
  return std::any_of(reached.begin(), reached.end(), [&](const ServingKernel& row) {
    // torch's `Autograd` may compute a result itself. Where it stood beside the lost kernel, that
    // is what it called.
    if (is_gradient_kernel(row)) return !beside_gradient;
    // `SparseCUDA` beside `CUDA` is for other tensors.
    return row.platform.name == platform.name || row.platform.name == row.platform.hardware ||
           row.platform.role != PlatformRole::device;
  });
}

bool works_without_kernel(const Fact& op) {
  return op[Key::function_body].truth() || op[Key::fallback].size() > 0;
}

bool platform_falls_back(const Fact& manifest, const Fact& written, PlatformNames& names) {
  for (const Fact platform : manifest[Key::backend_fallbacks].items()) {
    if (platform.is_text() && names.reaches(written, platform)) return true;
  }
  return false;
}

bool could_show(const Fact& manifest, const Fact& other, const Fact& written,
                PlatformNames& names) {
  const Platform platform = names.of(written);
  if (platform.role == PlatformRole::every || platform.role == PlatformRole::wrapper) return true;
  if (platform.hardware == "cpu") return true;
  const auto lists = [&](const Fact& walked) {
    for (const Fact device : walked[Key::devices].items()) {
      const Platform there = names.of(device);
      if (platform_reaches(platform, there) || there.name == platform.hardware) return true;
    }
    return false;
  };
  if (manifest[Key::devices].is_list() != other[Key::devices].is_list()) return false;
  if (!manifest[Key::devices].is_list() || lists(manifest)) return true;
  // A word that neither a table of ours nor the machine of the other walk takes for a device.
  return platform.role == PlatformRole::unknown && !lists(other);
}

}  // namespace opseal
