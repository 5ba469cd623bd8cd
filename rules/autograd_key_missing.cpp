#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "opseal/digest.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/sources.h"
#include "opseal/text.h"
#include "rules/gradient_marks.h"
#include "rules/torch_names.h"

namespace opseal {
namespace {

constexpr std::string_view forward_endings[] = {"_forward", "_fwd"};
constexpr std::string_view backward_endings[] = {"_backward", "_bwd", "_grad"};

// The name without one of the endings, or empty.
template <std::size_t count>
std::string_view without_ending(std::string_view name, const std::string_view (&endings)[count]) {
  for (const std::string_view ending : endings) {
    if (name.size() > ending.size() && name.ends_with(ending)) {
      return name.substr(0, name.size() - ending.size());
    }
  }
  return {};
}

std::string_view stem_of(std::string_view base) {
  std::string_view stem = without_ending(base, forward_endings);
  if (stem.empty()) stem = without_ending(base, backward_endings);
  return stem.empty() ? base : stem;
}

// All operators of one namespace that share a stem: `mv`, `mv_fwd`, `mv_backward`, overloads.
struct Family {
  Fact manifest;
  Fact forward;
  Fact backward;
  // Some member has a gradient, or says on purpose that it has none.
  bool connected = false;
  // Something isn't said or known.
  bool open = false;
};

bool writes_an_argument(const Fact& op) {
  for (const Fact input : op[Key::inputs].items()) {
    if (input[Key::mutated].truth()) return true;
  }
  const std::string_view schema = op[Key::schema].text();
  return schema.find("!)") != schema.npos || schema.find("! ") != schema.npos;
}

// Whether gradients would show: torch's dispatcher lists gradient keys with the kernels, while its
// declarations and other registries have to say that there is none.
bool says_gradient(const Fact& manifest, const Fact& op, const KernelRoles& roles) {
  if (op[Key::gradient].said()) return true;
  // Python connects operators of sources by a `torch.autograd.Function` that the registry never
  // meets.
  return manifest[Key::system].is("torch") && roles.known && !is_of_sources(manifest) &&
         !manifest[Key::producer][Key::name].is("export native-functions");
}

void add(Family& family, const Fact& manifest, const Fact& op, const KernelRoles& roles) {
  const std::string_view base = base_name(op[Key::name].text());
  if (has_gradient(op, roles) || is_marked_without_gradient(op)) family.connected = true;
  if (op[Key::transpose].present()) family.connected = true;
  if (!without_ending(base, backward_endings).empty()) {
    if (!family.backward.said()) family.backward = op;
    return;
  }
  if (writes_an_argument(op)) return;
  if (!says_gradient(manifest, op, roles)) family.open = true;
  if (roles.has_kernel() && !family.forward.said()) {
    family.manifest = manifest;
    family.forward = op;
  }
}

std::uint64_t family_key(const Fact& manifest, const Fact& op, std::string_view base) {
  const std::uint64_t space = std::uint64_t{manifest.index()} << 32 | op[Key::namespace_].name();
  return hash_text(stem_of(base)) ^ space * 0x9e3779b97f4a7c15;
}

void check(const Facts& facts, Sink& sink) {
  // Most operators have no backward one beside them.
  std::unordered_map<std::uint64_t, Family> families;
  std::vector<std::uint64_t> order;
  for_each_operator(facts, [&](const Fact& manifest, const Fact& op) {
    const std::string_view base = base_name(op[Key::name].text());
    if (without_ending(base, backward_endings).empty()) return;
    const std::uint64_t key = family_key(manifest, op, base);
    if (families.try_emplace(key).second) order.push_back(key);
  });
  if (families.empty()) return;
  for_each_operator_with_names(facts,
                               [&](const Fact& manifest, const Fact& op, PlatformNames& names) {
                                 const std::string_view base = base_name(op[Key::name].text());
                                 // What an `_impl` does is wrapped by an operator that has the
                                 // gradient.
                                 if (base.empty() || base.ends_with("_impl")) return;
                                 const auto family = families.find(family_key(manifest, op, base));
                                 if (family != families.end())
                                   add(family->second, manifest, op, kernel_roles(op, names));
                               });
  for (const std::uint64_t key : order) {
    const Family& family = families.at(key);
    if (!family.forward.said() || !family.backward.said() || family.open) continue;
    sink.inspected();
    if (family.connected) continue;
    Finding& finding = sink.add(
        subject_of(family.manifest, family.forward),
        "no gradient, though " + quote(family.backward[Key::name].text()) + " is registered",
        evidence(family.forward[Key::name], "forward" + site_of(family.forward)));
    finding.related.push_back(
        evidence(family.backward[Key::name], "backward" + site_of(family.backward)));
  }
}

}  // namespace

extern constinit const Rule autograd_key_missing{
    .id = "autograd-key-missing",
    .title = "forward and backward operators exist and nothing connects them",
    .rationale =
        "Both halves are registered, and the framework isn't told that one is the gradient of the "
        "other. The forward pass runs and its result has no history: training raises, or the part "
        "of the model in front of the operator never changes. The two may be connected where no "
        "registry shows it, in a function written in Python, so that this is for a look.",
    .example =
        R"({"opseal_manifest": 1, "system": "torch", "operators": [{"name": "lib::mv_fwd", "namespace": "lib", "kernels": [{"platform": "CUDA"}]}, {"name": "lib::mv_bwd", "namespace": "lib", "kernels": [{"platform": "CUDA"}]}]})",
    .fix =
        "register the backward operator as the gradient of the forward one, or mark the forward "
        "one as not differentiable",
    .severity = Severity::error,
    .profile = Profile::strict,
    .inspects = "forward operator with a backward one of the same stem",
    .needs = {Key::operators, Key::kernels},
    .check = check,
};

}  // namespace opseal
