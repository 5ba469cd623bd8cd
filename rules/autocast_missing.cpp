#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/sources.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Devices that have a key for autocast of their own, as torch spells them.
constexpr std::array<std::string_view, 7> devices{"CPU", "CUDA", "HPU", "IPU", "MPS", "XLA", "XPU"};
constexpr std::string_view prefix = "Autocast";

struct Casts {
  Fact manifest;
  Fact op;
  // Device -> the kernel.
  std::map<std::string_view, Fact> kernels;
  std::map<std::string_view, Fact> autocast;
};

bool is_device(std::string_view word) {
  return std::find(devices.begin(), devices.end(), word) != devices.end();
}

Casts casts_of(const Fact& manifest, const Fact& op) {
  Casts casts{manifest, op, {}, {}};
  for (const Fact kernel : op[Key::kernels].items()) {
    std::string_view platform = kernel[Key::platform].text();
    if (!is_active_kernel(kernel)) continue;
    if (platform.starts_with(prefix)) {
      platform.remove_prefix(prefix.size());
      // The key without a device is that of CUDA.
      casts.autocast.emplace(platform.empty() ? "CUDA" : platform, kernel);
    } else if (is_device(platform)) {
      casts.kernels.emplace(platform, kernel);
    }
  }
  return casts;
}

void check(const Facts& facts, Sink& sink) {
  // Namespaces, with the devices for which some operator of theirs is cast.
  std::set<std::pair<Name, std::string_view>> cast_somewhere;
  std::vector<Casts> candidates;
  for_each_operator(facts, [&](const Fact& manifest, const Fact& op) {
    // Torch itself casts on each device what its own list says.
    if (!is_of_sources(manifest) || !manifest[Key::system].is("torch")) return;
    if (is_partial_tree(manifest)) return;
    Casts casts = casts_of(manifest, op);
    if (casts.autocast.empty()) return;
    for (const auto& [device, kernel] : casts.autocast) {
      cast_somewhere.emplace(op[Key::namespace_].name(), device);
    }
    if (casts.autocast.size() < 2) return;
    sink.inspected();
    candidates.push_back(std::move(casts));
  });
  for (const Casts& casts : candidates) {
    for (const auto& [device, kernel] : casts.kernels) {
      if (casts.autocast.contains(device)) continue;
      if (!cast_somewhere.contains({casts.op[Key::namespace_].name(), device})) continue;
      std::string others;
      for (const auto& [other, autocast] : casts.autocast) {
        if (!others.empty()) others += " and ";
        others += "`" + std::string(prefix) + std::string(other) + "`";
      }
      Finding& finding = sink.add(subject_of(casts.manifest, casts.op),
                                  "kernel for " + quote(device) + " and none for " +
                                      quote(std::string(prefix) + std::string(device)) +
                                      ", where there is " + others,
                                  evidence(kernel, "kernel" + site_of(kernel)));
      const Fact first = casts.autocast.begin()->second;
      finding.related.push_back(evidence(first, "cast for another device" + site_of(first)));
    }
  }
}

}  // namespace

extern constinit const Rule autocast_missing{
    .id = "autocast-missing",
    .title = "operator is cast under autocast for some of its devices alone",
    .rationale =
        "Under `torch.autocast` an operator gets what the model computes in lower precision, "
        "unless "
        "a kernel for the autocast key of the device casts it first. This operator has such "
        "kernels for other devices, and the namespace has them for this one: here the inputs "
        "reach the kernel as they are, which refuses them or computes in the wrong precision.",
    .example =
        R"({"opseal_manifest": 1, "producer": {"name": "sources"}, "tree": {"files": 1, "partial": false}, "system": "torch", "operators": [)"
        R"({"name": "lib::a", "namespace": "lib", "kernels": [{"platform": "XPU"}, {"platform": "AutocastXPU"}]}, )"
        R"({"name": "lib::b", "namespace": "lib", "kernels": [{"platform": "XPU"}, {"platform": "AutocastCPU"}, {"platform": "AutocastCUDA"}]}]})",
    .fix = "register the cast for the autocast key of that device too",
    .severity = Severity::warning,
    .inspects = "operator with kernels for the autocast keys of two devices",
    .needs = {Key::operators, Key::kernels},
    .check = check,
};

}  // namespace opseal
