#include <vector>

#include "opseal/platforms.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/kernel_key.h"

namespace opseal {
namespace {

// Nobody has more defaults; keeps hostile input from costing the square of its size.
constexpr std::size_t most_defaults = 64;

void check_default(const Fact& manifest, const Fact& op, const Fact& platform, const Fact& backend,
                   PlatformNames& names, Sink& sink) {
  std::vector<std::string_view> backends;
  Fact shadowed;
  for (const Fact kernel : op[Key::kernels].items()) {
    if (!names.reaches(platform, kernel[Key::platform])) continue;
    if (!is_active_kernel(kernel)) {
      if (kernel[Key::backend].is(backend.text())) shadowed = kernel;
      continue;
    }
    // A backend that nobody said may be the one.
    if (!kernel[Key::backend].is_text()) return;
    if (kernel[Key::backend].name() == backend.name()) {
      sink.inspected();
      return;
    }
    if (backends.size() < 16) backends.push_back(kernel[Key::backend].text());
  }
  sink.inspected();
  const std::vector<std::string> shown(backends.begin(), backends.end());
  std::string message = "default backend " + quote(backend.text()) + " for " +
                        quote(platform.text()) + " has no kernel there";
  message +=
      shown.empty() ? ", and no other backend has one" : "; kernels from " + quote_list(shown);
  message += did_you_mean(backend.text(), backends);
  Finding& finding = sink.add(subject_of(manifest, op), std::move(message),
                              evidence(backend, "default stated here"));
  finding.related.push_back(evidence(op[Key::kernels], "kernels listed here" + site_of(op)));
  if (shadowed.said()) finding.related.push_back(evidence(shadowed, "its kernel is shadowed"));
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    PlatformNames names(manifest);
    for (const Fact op : manifest[Key::operators].items()) {
      if (!op[Key::defaults].is_map() || !kernels_known(op)) continue;
      std::size_t seen = 0;
      for (const auto& [platform, backend] : op[Key::defaults].entries()) {
        if (backend.is_text() && ++seen <= most_defaults) {
          check_default(manifest, op, platform, backend, names, sink);
        }
      }
    }
  }
}

}  // namespace

extern constinit const Rule default_unregistered{
    .id = "default-unregistered",
    .title = "default backend without a kernel",
    .rationale =
        "The table of defaults sends every call on this platform to a backend that registered "
        "nothing for this operator there. A call without an explicit backend fails, or falls "
        "silently through to another kernel, while the kernels that exist are never chosen.",
    .example =
        R"({"name": "mv", "defaults": {"tpu": "pallas"}, "kernels": [{"platform": "tpu", "backend": "jax_raw"}]})",
    .fix = "name a backend that has a kernel on the platform, or register the kernel",
    .severity = Severity::error,
    .inspects = "default backend of an operator with stated kernels",
    .needs = {Key::operators, Key::defaults, Key::kernels},
    .check = check,
};

}  // namespace opseal
