#include "rules/guarded_kernels.h"

#include <algorithm>
#include <map>
#include <utility>

namespace opseal {
namespace {

bool is_guarded(const Fact& function) {
  const Fact otherwise = function[Key::otherwise];
  return function[Key::guard].is_text() && (otherwise.is("nothing") || otherwise.is("assert"));
}

struct Found {
  GuardedKernel kernel;
  // Another function of the name works everywhere.
  bool works = false;
  bool said = false;
};

}  // namespace

GuardedKernels::GuardedKernels(const Facts& facts, const Document& document) {
  const Fact root = facts.root(document);
  std::map<std::string_view, Found> by_name;
  std::vector<std::string_view> order;
  for (const Fact function : root[Key::device_functions].items()) {
    const std::string_view name = function[Key::name].text();
    const auto [found, is_new] = by_name.try_emplace(name);
    if (is_new) order.push_back(name);
    found->second.kernel.functions.push_back(function);
    found->second.works = found->second.works || !is_guarded(function);
  }
  for (const Fact launch : root[Key::launches].items()) {
    const auto found = by_name.find(launch[Key::kernel].text());
    const Fact conditions = launch[Key::conditions];
    if (found == by_name.end() || !conditions.is_list()) continue;
    found->second.said = true;
    if (conditions.size() == 0) found->second.kernel.unasked.push_back(launch);
  }
  for (const std::string_view name : order) {
    Found& found = by_name.at(name);
    if (found.said && !found.works) kernels_.push_back(std::move(found.kernel));
  }
}

const GuardedKernel* GuardedKernels::find(std::string_view name) const {
  const auto found =
      std::find_if(kernels_.begin(), kernels_.end(), [name](const GuardedKernel& kernel) {
        return kernel.functions.front()[Key::name].text() == name;
      });
  return found == kernels_.end() ? nullptr : &*found;
}

}  // namespace opseal
