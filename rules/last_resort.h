#pragma once

#include "opseal/registration.h"
#include "opseal/text.h"

namespace opseal {

// The last backend of a chain says yes to everything by design, since nothing would come after a
// no. In ggml that is the CPU; elsewhere an operator's `fallback` ends with it, as a platform or as
// a backend.
inline bool ends_chain(const Fact& manifest, const Fact& op, const Fact& platform,
                       const Fact& backend) {
  if (manifest[Key::system].is("ggml") &&
      (lower(platform.text()) == "cpu" || lower(backend.text()) == "cpu")) {
    return true;
  }
  Fact last;
  for (const Fact next : op[Key::fallback].items()) last = next;
  return last.is_text() && (last.name() == platform.name() || last.name() == backend.name());
}

inline bool is_last_resort(const Fact& manifest, const Fact& op, const Fact& kernel) {
  return ends_chain(manifest, op, kernel[Key::platform], kernel[Key::backend]);
}

}  // namespace opseal
