// Kernels start on the device that is current in the thread, wherever their tensors lie.

#include "analyzers/sources/device_current.h"

#include <algorithm>
#include <unordered_set>

#include "opseal/text.h"

namespace opseal {
namespace {

// Functions that are called by functions with a guard, and so on.
constexpr int most_rounds = 8;
// Shorter names are those of many functions.
constexpr std::size_t least_name = 6;

using Hashes = std::unordered_set<std::uint32_t>;

bool uses_one_of(const NamingCode& code, const Hashes& names) {
  return std::any_of(code.uses.begin(), code.uses.end(),
                     [&names](const NameUse& use) { return names.contains(use.hash); });
}

// Macros that have a guard, by others too.
Hashes guarding_macros(const std::vector<LaunchCode*>& codes) {
  Hashes macros;
  for (int round = 0; round < most_rounds; ++round) {
    const std::size_t before = macros.size();
    for (const LaunchCode* code : codes) {
      for (const NamingCode& macro : code->macros) {
        if (macro.guards_device || uses_one_of(macro, macros)) macros.insert(macro.hash);
      }
    }
    if (macros.size() == before) break;
  }
  return macros;
}

}  // namespace

bool guards_device(std::string_view name) {
  const std::string word = lower(name);
  const auto has = [&word](std::string_view part) { return word.find(part) != word.npos; };
  if (has("guard")) return !has("lock_guard") && !has("gil");
  return has("setdevice") || has("set_device") || has("with_device") || has("switchdevice") ||
         has("setcurrentdevice");
}

bool takes_tensors(Tokens parameters) {
  return std::any_of(parameters.begin(), parameters.end(), [](const Token& token) {
    return token.is("Tensor") || token.is("TensorView");
  });
}

std::vector<std::string> join_current_device(const std::vector<LaunchCode*>& codes) {
  const Hashes macros = guarding_macros(codes);
  // What is called where a guard may be in place, by macros that are named there too.
  Hashes covered;
  const auto is_guarded = [&](const NamingCode& function) {
    return function.guards_device || uses_one_of(function, macros);
  };
  for (int round = 0; round < most_rounds; ++round) {
    const std::size_t before = covered.size();
    for (const LaunchCode* code : codes) {
      for (const NamingCode& function : code->functions) {
        if (!is_guarded(function) && !covered.contains(function.hash)) continue;
        for (const NameUse& use : function.uses) covered.insert(use.hash);
      }
      for (const NamingCode& macro : code->macros) {
        if (!covered.contains(macro.hash)) continue;
        for (const NameUse& use : macro.uses) covered.insert(use.hash);
      }
    }
    if (covered.size() == before) break;
  }
  std::vector<std::string> names;
  for (LaunchCode* code : codes) {
    bool any = false;
    for (KernelLaunch& launch : code->launches) {
      const NamingCode& function = code->functions[launch.function];
      launch.pinned.reset();
      if (is_guarded(function)) {
        launch.pinned = true;
        any = true;
      } else if (function.takes_tensors && function.owner == 0 &&
                 !covered.contains(function.hash)) {
        launch.pinned = false;
      }
    }
    for (const KernelLaunch& launch : code->launches) {
      const std::string& name = code->functions[launch.function].name;
      const bool open = any && launch.pinned && !*launch.pinned;
      if (open && name.size() >= least_name) names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace opseal
