#include "rules/required_platform.h"

#include "opseal/registration.h"

namespace opseal {
namespace {

Service kernels_on(const Fact& op, const Fact& platform, PlatformNames& names) {
  Service service = Service::nothing;
  for (const Fact kernel : op[Key::kernels].items()) {
    if (!is_active_kernel(kernel) || !names.reaches(platform, kernel[Key::platform])) continue;
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
