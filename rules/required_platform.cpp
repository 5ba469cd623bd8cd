#include "rules/required_platform.h"

#include <string>

#include "opseal/registration.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// `cuda`, `metal`, `oneapi`, `rocm` as that very word: what others are called after (`hip`,
// `sycl`) may run on several vendors' devices.
bool is_vendor(std::string_view word) {
  return word == "cuda" || word == "metal" || word == "oneapi" || word == "rocm";
}

// A kernel for `gpu` by the backend `cuda` doesn't serve `metal`.
bool is_other_vendors(const Fact& platform, const Fact& kernel, PlatformNames& names) {
  if (names.of(kernel[Key::platform]).role != PlatformRole::family) return false;
  const std::string backend = lower(kernel[Key::backend].text().substr(0, 16));
  const std::string_view asked = names.of(platform).name;
  return is_vendor(backend) && is_vendor(asked) && backend != asked;
}

Service kernels_on(const Fact& op, const Fact& platform, PlatformNames& names) {
  Service service = Service::nothing;
  for (const Fact kernel : op[Key::kernels].items()) {
    if (!is_active_kernel(kernel) || !names.reaches(platform, kernel[Key::platform])) continue;
    if (is_other_vendors(platform, kernel, names)) continue;
    if (!kernel[Key::stub].truth()) return Service::kernel;
    service = Service::stub;
  }
  return service;
}

bool lists(const Fact& list, const Fact& platform, PlatformNames& names) {
  for (const Fact item : list.items()) {
    if (names.reaches(platform, item)) return true;
  }
  return false;
}

}  // namespace

Service service_of(const Fact& manifest, const Fact& op, const Fact& platform,
                   PlatformNames& names) {
  const Service own = kernels_on(op, platform, names);
  if (own == Service::kernel) return own;
  if (lists(manifest[Key::backend_fallbacks], platform, names)) return Service::kernel;
  // A stub raises where a gap would have been passed on.
  if (own == Service::stub || lists(op[Key::stub_platforms], platform, names)) {
    return Service::stub;
  }
  std::size_t tried = 0;
  for (const Fact next : op[Key::fallback].items()) {
    // Longer chains are not judged: each step looks through all kernels.
    if (!next.is_text() || ++tried > 64) return Service::unknown;
    if (kernels_on(op, next, names) == Service::kernel) return Service::kernel;
    // The list may name backends.
    for (const Fact kernel : op[Key::kernels].items()) {
      if (is_active_kernel(kernel) && kernel[Key::backend].is(next.text())) return Service::kernel;
    }
  }
  return platform_was_visible(manifest, platform, names) ? Service::nothing : Service::unknown;
}

bool needs_no_kernel(const Fact& op) {
  return op[Key::function_body].truth() || op[Key::deprecated].truth() ||
         op[Key::versions][Key::until].is_count();
}

}  // namespace opseal
