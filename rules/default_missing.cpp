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

// A kernel that a call on its platform can be sent to.
struct Choice {
  std::string_view platform;
  Name backend = Names::missing;
  // Worked out where a platform has several backends.
  std::uint64_t selection = 0;
  Fact kernel;
};

using Choices = std::vector<Choice>;

// Two neighbours that nothing but the backend tells apart, in [first, end), which is one platform.
Choices::iterator find_rivals(Choices::iterator first, Choices::iterator end) {
  const auto differs = [&](const Choice& choice) { return choice.backend != first->backend; };
  if (std::none_of(first, end, differs)) return end;
  for (auto choice = first; choice != end; ++choice) {
    choice->selection = selection_of(choice->kernel);
  }
  std::sort(first, end, [](const Choice& a, const Choice& b) {
    if (a.selection != b.selection) return a.selection < b.selection;
    return a.kernel.index() < b.kernel.index();
  });
  return std::adjacent_find(first, end, [](const Choice& a, const Choice& b) {
    return a.selection == b.selection && a.backend != b.backend;
  });
}

// Without a default the registry takes the kernel that was registered first: a rule, not chance.
bool takes_the_first(const Fact& manifest) { return manifest[Key::system].is("brainevent"); }

bool chosen(const Fact& map, const Fact& platform, PlatformNames& names) {
  for (const auto& [name, backend] : map.entries()) {
    if (names.reaches(platform, name)) return true;
  }
  return false;
}

void report(const Fact& manifest, const Fact& op, const Fact& a, const Fact& b, Sink& sink) {
  Finding& finding = sink.add(subject_of(manifest, op),
                              "no default for " + quote(b[Key::platform].text()) +
                                  ", where backends " + quote(a[Key::backend].text()) + " and " +
                                  quote(b[Key::backend].text()) + " compete",
                              evidence(op[Key::defaults], "defaults listed here"));
  finding.related.push_back(evidence(a, "one backend" + site_of(a)));
  finding.related.push_back(evidence(b, "the other" + site_of(b)));
}

void check_operator(const Fact& manifest, const Fact& op, bool first_wins, PlatformNames& names,
                    Choices& choices, Sink& sink) {
  const Fact defaults = op[Key::defaults];
  // A ranking decides without a default: an order of fallbacks or priorities.
  if (!defaults.is_map() || !kernels_known(op) || op[Key::fallback]) return;
  if (defaults.size() > most_defaults) return;
  choices.clear();
  for (const Fact kernel : op[Key::kernels].items()) {
    if (!is_active_kernel(kernel) || kernel[Key::stub].truth() || kernel[Key::priority]) continue;
    const Platform platform = names.of(kernel[Key::platform]);
    if (!kernel[Key::backend].is_text() || platform.role == PlatformRole::wrapper) continue;
    choices.push_back({platform.name, kernel[Key::backend].name(), 0, kernel});
  }
  std::sort(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) {
    if (a.platform != b.platform) return a.platform < b.platform;
    return a.kernel.index() < b.kernel.index();
  });
  bool inspected = false;
  for (auto first = choices.begin(); first != choices.end();) {
    const auto end = std::find_if(first, choices.end(), [&](const Choice& choice) {
      return choice.platform != first->platform;
    });
    const auto rivals = find_rivals(first, end);
    first = end;
    if (rivals == end) continue;
    if (!inspected) sink.inspected();
    inspected = true;
    const Fact platform = rivals->kernel[Key::platform];
    if (first_wins || chosen(defaults, platform, names) ||
        chosen(manifest[Key::global_backends], platform, names)) {
      continue;
    }
    report(manifest, op, rivals->kernel, (rivals + 1)->kernel, sink);
  }
}

void check(const Facts& facts, Sink& sink) {
  Choices choices;
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    const bool first_wins = takes_the_first(manifest);
    PlatformNames names(manifest);
    for (const Fact op : manifest[Key::operators].items()) {
      if (op.said()) check_operator(manifest, op, first_wins, names, choices, sink);
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
        "about that platform. Which of them runs then depends on the order in which they happen to "
        "be "
        "registered or stored: it may differ between machines and change with an import, and some "
        "dispatchers refuse the call.",
    .example =
        R"({"name": "mv", "defaults": {"cpu": "numba"}, "kernels": [{"platform": "cpu", "backend": "numba"}, {"platform": "gpu", "backend": "cuda_raw"}, {"platform": "gpu", "backend": "jax_raw"}]})",
    .fix = "name a default backend for the platform",
    .severity = Severity::error,
    .inspects = "operator with defaults and two backends that compete on a platform",
    .needs = {Key::operators, Key::defaults, Key::kernels, Key::backend},
    .check = check,
};

}  // namespace opseal
