#include "compare/equal_kernels.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "opseal/digest.h"
#include "rules/kernel_key.h"

namespace opseal {
namespace {

// Equal for kernels that say the same, but for places and for the module of a function.
std::uint64_t content_of(const Fact& kernel) {
  std::uint64_t sum = 0;
  for (const Fact member : kernel.items()) {
    switch (member.key()) {
      case Key::location:
      case Key::function:
      case Key::library:
      case Key::package:
      case Key::witnesses:
      case Key::extension:
        break;
      default:
        sum += hash_of(member);
    }
  }
  const Fact function = kernel[Key::function];
  return sum * 31 + hash_text(own_name(function[Key::name].text()));
}

}  // namespace

void drop_equal_kernels(std::vector<ServingKernel>& before, std::vector<ServingKernel>& after) {
  std::vector<std::pair<std::uint64_t, std::size_t>> left;
  std::vector<std::pair<std::uint64_t, std::size_t>> right;
  for (std::size_t at = 0; at < before.size(); ++at)
    left.emplace_back(content_of(before[at].kernel), at);
  for (std::size_t at = 0; at < after.size(); ++at)
    right.emplace_back(content_of(after[at].kernel), at);
  std::sort(left.begin(), left.end());
  std::sort(right.begin(), right.end());
  std::vector<bool> gone_left(before.size());
  std::vector<bool> gone_right(after.size());
  for (std::size_t i = 0, j = 0; i < left.size() && j < right.size();) {
    if (left[i].first < right[j].first) {
      ++i;
    } else if (right[j].first < left[i].first) {
      ++j;
    } else {
      gone_left[left[i++].second] = true;
      gone_right[right[j++].second] = true;
    }
  }
  const auto keep = [](std::vector<ServingKernel>& kernels, const std::vector<bool>& gone) {
    std::vector<ServingKernel> kept;
    for (std::size_t at = 0; at < kernels.size(); ++at) {
      if (!gone[at]) kept.push_back(kernels[at]);
    }
    kernels = std::move(kept);
  };
  keep(before, gone_left);
  keep(after, gone_right);
}

}  // namespace opseal
