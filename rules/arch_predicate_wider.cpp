#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/arch_guards.h"
#include "rules/host_guards.h"

namespace opseal {
namespace {

// Architectures that a message names.
constexpr std::size_t most_named = 4;

// The only definition of a name that works under a guard alone; no fact where there are others.
std::map<std::string_view, Fact> guarded_kernels(const Fact& manifest) {
  std::map<std::string_view, Fact> kernels;
  for (const Fact function : manifest[Key::device_functions].items()) {
    const std::string_view name = function[Key::name].text();
    const bool guarded = function[Key::guard].is_text() && function[Key::otherwise].is_text() &&
                         !function[Key::otherwise].is("code");
    const auto [kernel, is_new] = kernels.try_emplace(name, guarded ? function : Fact());
    if (!is_new) kernel->second = Fact();
  }
  return kernels;
}

// 9.0 of 900.
std::string capability(std::uint32_t architecture) {
  return std::to_string(architecture / 100) + "." + std::to_string(architecture / 10 % 10);
}

// Of what the host lets through: where the body does nothing. Empty where nothing is sure to work.
std::vector<std::string> lost(const std::vector<std::uint32_t>& admitted, std::string_view guard) {
  std::vector<std::string> names;
  bool works = false;
  for (const std::uint32_t architecture : admitted) {
    if (guard_truth(guard, architecture) == GuardTruth::no) {
      names.push_back(capability(architecture));
    } else {
      works = true;
    }
  }
  // Nothing that it lets through would be another kind of condition than it seems.
  if (!works) names.clear();
  return names;
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    const std::map<std::string_view, Fact> kernels = guarded_kernels(manifest);
    for (const Fact launch : manifest[Key::launches].items()) {
      const Fact asked = launch[Key::guard];
      const auto kernel = kernels.find(launch[Key::kernel].text());
      if (!asked.is_text() || kernel == kernels.end() || !kernel->second.said()) continue;
      const auto admitted = admitted_architectures(asked.text());
      if (!admitted) continue;
      sink.inspected();
      const Fact& function = kernel->second;
      const std::string_view guard = function[Key::guard].text();
      const std::vector<std::string> names = lost(*admitted, guard);
      if (names.empty()) continue;
      const std::size_t shown = std::min(names.size(), most_named);
      std::string message =
          "started where " + quote(asked.text()) + ", which lets devices of capability ";
      for (std::size_t at = 0; at < shown; ++at) message += (at > 0 ? ", " : "") + names[at];
      if (shown < names.size()) message += " and more";
      message += " through, and does its work under " + quote(guard) + " alone";
      Finding& finding = sink.add(std::string(function[Key::name].text()), std::move(message),
                                  evidence(launch, "started here" + site_of(launch)));
      finding.related.push_back(evidence(function, "kernel defined here" + site_of(function)));
    }
  }
}

}  // namespace

extern constinit const Rule arch_predicate_wider{
    .id = "arch-predicate-wider",
    .title = "host starts a kernel on devices that its body does nothing for",
    .rationale =
        "The host asks for a capability before it starts a kernel whose body stands under a test "
        "of `__CUDA_ARCH__`, and the two tests differ: `sm >= 100` is true for every later device, "
        "too, while the code is for one of them. There the kernel is empty, or traps. It shows "
        "when the first such device is bought, years after the code was written.",
    .example =
        R"json({"opseal_manifest": 1,
 "device_functions": [{"name": "mma", "guard": "__CUDA_ARCH__ == 1000", "otherwise": "nothing"}],
 "launches": [{"kernel": "mma", "function": "run_mma", "guard": "(sm >= 100)"}]})json",
    .fix = "ask for exactly the devices that the body is written for",
    .severity = Severity::error,
    .tier = Tier::lexed,
    .inspects = "launch of a guarded kernel at which numbers of the capability are known",
    .needs = {Key::device_functions, Key::guard, Key::otherwise, Key::launches},
    .check = check,
};

}  // namespace opseal
