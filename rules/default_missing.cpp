#include <algorithm>
#include <vector>

#include "opseal/platforms.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/kernel_key.h"

namespace opseal {
namespace {

// Nobody has more; keeps hostile input from costing the square of its size.
constexpr std::size_t most_defaults = 64;

// Kernels that a call on one platform must choose between: equal key, backends that differ.
struct Choice {
  std::string_view platform;
  std::uint64_t selection = 0;
  Name backend = Names::missing;
  Fact kernel;
};

bool platform_before(const Choice& a, const Choice& b) {
  if (a.platform != b.platform) return a.platform < b.platform;
  return a.selection < b.selection;
}

bool chosen(const Fact& map, const Fact& platform, PlatformNames& names) {
  for (const auto& [name, backend] : map.entries()) {
    if (names.reaches(platform, name)) return true;
  }
  return false;
}

void check_operator(const Fact& manifest, const Fact& op, PlatformNames& names,
                    std::vector<Choice>& choices, Sink& sink) {
  const Fact defaults = op[Key::defaults];
  // A ranking decides without a default: an order of fallbacks or priorities.
  if (!defaults.is_map() || !kernels_known(op) || op[Key::fallback]) return;
  if (defaults.size() > most_defaults) return;
  choices.clear();
  for (const Fact kernel : op[Key::kernels].items()) {
    if (!is_active_kernel(kernel) || kernel[Key::stub].truth() || kernel[Key::priority]) continue;
    const Platform platform = names.of(kernel[Key::platform]);
    if (!kernel[Key::backend].is_text() || platform.role == PlatformRole::wrapper) continue;
    choices.push_back({platform.name, selection_of(kernel), kernel[Key::backend].name(), kernel});
  }
  std::stable_sort(choices.begin(), choices.end(), platform_before);
  bool inspected = false;
  std::string_view judged;
  for (std::size_t i = 1; i < choices.size(); ++i) {
    const Choice& a = choices[i - 1];
    const Choice& b = choices[i];
    if (a.platform != b.platform || a.selection != b.selection || a.backend == b.backend) continue;
    if (!inspected) sink.inspected();
    inspected = true;
    const Fact platform = b.kernel[Key::platform];
    if (a.platform == judged) continue;
    judged = a.platform;
    if (chosen(defaults, platform, names) ||
        chosen(manifest[Key::global_backends], platform, names)) {
      continue;
    }
    Finding& finding = sink.add(subject_of(manifest, op),
                                "no default for " + quote(platform.text()) + ", where backends " +
                                    quote(a.kernel[Key::backend].text()) + " and " +
                                    quote(b.kernel[Key::backend].text()) + " compete",
                                evidence(defaults, "defaults listed here"));
    finding.related.push_back(evidence(a.kernel, "one backend" + site_of(a.kernel)));
    finding.related.push_back(evidence(b.kernel, "the other" + site_of(b.kernel)));
  }
}

void check(const Facts& facts, Sink& sink) {
  std::vector<Choice> choices;
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    PlatformNames names(manifest);
    for (const Fact op : manifest[Key::operators].items()) {
      if (op.said()) check_operator(manifest, op, names, choices, sink);
    }
  }
}

}  // namespace

extern constinit const Rule default_missing{
    .id = "default-missing",
    .title = "several backends on a platform and no default",
    .rationale =
        "Two backends offer the same kernel on one platform, and the table of defaults says "
        "nothing "
        "about that platform. Which of them runs then depends on the order of registration or on "
        "luck: it differs between machines and changes with an import, and some dispatchers refuse "
        "the call.",
    .example =
        R"({"name": "mv", "defaults": {"cpu": "numba"}, "kernels": [{"platform": "cpu", "backend": "numba"}, {"platform": "gpu", "backend": "cuda_raw"}, {"platform": "gpu", "backend": "jax_raw"}]})",
    .fix = "name a default backend for the platform",
    .severity = Severity::error,
    .inspects = "operator with defaults and two backends that compete on a platform",
    .needs = {Key::operators, Key::defaults, Key::kernels, Key::backend},
    .check = check,
};

}  // namespace opseal
