#include "rules/guarded_kernels.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "rules/arch_guards.h"
#include "rules/mangled_names.h"

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

bool guard_fails(std::string_view guard, std::uint32_t architecture) {
  return guard_truth(guard, architecture) == GuardTruth::no;
}

UnaskedKernels::UnaskedKernels(const Facts& facts) {
  for (const Document& document : facts.documents) {
    const GuardedKernels kernels(facts, document);
    for (const GuardedKernel& kernel : kernels.all()) {
      if (kernel.unasked.empty()) continue;
      kernels_.try_emplace(kernel.functions.front()[Key::name].text(), kernel);
    }
  }
}

const GuardedKernel* UnaskedKernels::find(std::string_view mangled,
                                          std::uint32_t architecture) const {
  if (kernels_.empty()) return nullptr;
  const std::string path = function_path(mangled);
  const std::size_t last = path.rfind("::");
  const std::string_view name =
      last == path.npos ? std::string_view(path) : std::string_view(path).substr(last + 2);
  const auto found = kernels_.find(name);
  if (found == kernels_.end()) return nullptr;
  const std::vector<Fact>& functions = found->second.functions;
  const bool hollow =
      std::all_of(functions.begin(), functions.end(), [architecture](const Fact& function) {
        return guard_fails(function[Key::guard].text(), architecture);
      });
  return hollow ? &found->second : nullptr;
}

}  // namespace opseal
