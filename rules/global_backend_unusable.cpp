#include <vector>

#include "opseal/platforms.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/kernel_key.h"

namespace opseal {
namespace {

// Nobody sets more; each is held against every operator.
constexpr std::size_t most_settings = 64;

void check_operator(const Fact& manifest, const Fact& op, const Fact& platform, const Fact& backend,
                    PlatformNames& names, Sink& sink) {
  std::vector<std::string> backends;
  bool serves = false;
  for (const Fact kernel : op[Key::kernels].items()) {
    if (!is_active_kernel(kernel) || !names.reaches(platform, kernel[Key::platform])) continue;
    if (names.of(kernel[Key::platform]).role == PlatformRole::wrapper) continue;
    if (!kernel[Key::backend].is_text()) return;
    if (kernel[Key::backend].name() == backend.name()) {
      sink.inspected();
      return;
    }
    serves = true;
  }
  if (!serves) return;
  sink.inspected();
  for (const Fact kernel : op[Key::kernels].items()) {
    if (backends.size() > 6) break;
    if (is_active_kernel(kernel) && names.reaches(platform, kernel[Key::platform])) {
      backends.emplace_back(kernel[Key::backend].text());
    }
  }
  Finding& finding = sink.add(
      subject_of(manifest, op),
      "no " + quote(backend.text()) + " kernel on " + quote(platform.text()) +
          ", which is the backend set for every operator; kernels from " + quote_list(backends),
      evidence(op[Key::kernels], "kernels listed here" + site_of(op)));
  finding.related.push_back(evidence(backend, "set for every operator here"));
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    PlatformNames names(manifest);
    std::size_t seen = 0;
    for (const auto& [platform, backend] : manifest[Key::global_backends].entries()) {
      if (!backend.is_text() || ++seen > most_settings) continue;
      for (const Fact op : manifest[Key::operators].items()) {
        if (kernels_known(op)) check_operator(manifest, op, platform, backend, names, sink);
      }
    }
  }
}

}  // namespace

extern constinit const Rule global_backend_unusable{
    .id = "global-backend-unusable",
    .title = "globally chosen backend that an operator doesn't have",
    .rationale =
        "One backend is set for a whole platform, and this operator has kernels there from other "
        "backends only. It keeps running something else, at best with one warning, so that "
        "measurements and bug reports name a backend that never ran.",
    .example =
        R"({"opseal_manifest": 1, "system": "engine", "global_backends": {"gpu": "triton"}, "operators": [{"name": "mv", "kernels": [{"platform": "gpu", "backend": "cuda_raw"}]}]})",
    .fix = "register a kernel of that backend, or set the backend only for operators that have it",
    .severity = Severity::warning,
    .inspects = "operator with kernels on a platform for which a backend is set globally",
    .needs = {Key::operators, Key::global_backends, Key::kernels},
    .check = check,
};

}  // namespace opseal
