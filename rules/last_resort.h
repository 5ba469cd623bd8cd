#pragma once

#include <unordered_map>

#include "opseal/registration.h"
#include "opseal/text.h"

namespace opseal {

// The last backend of a chain says yes to everything by design, since nothing would come after a
// no. In ggml that is the CPU; elsewhere an operator's `fallback` ends with it, as a platform or as
// a backend.
class ChainEnds {
 public:
  bool ends_chain(const Fact& manifest, const Fact& op, const Fact& platform, const Fact& backend) {
    if (manifest[Key::system].is("ggml") &&
        (lower(platform.text()) == "cpu" || lower(backend.text()) == "cpu")) {
      return true;
    }
    const Fact chain = op[Key::fallback];
    if (!chain.is_list()) return false;
    const Name last = last_of(chain);
    return last != Names::missing && (last == platform.name() || last == backend.name());
  }

  bool is_last_resort(const Fact& manifest, const Fact& op, const Fact& kernel) {
    return ends_chain(manifest, op, kernel[Key::platform], kernel[Key::backend]);
  }

 private:
  // A list is walked to its end, which asked for each kernel would be quadratic.
  Name last_of(const Fact& chain) {
    const auto [known, fresh] = last_.try_emplace(chain.index(), Names::missing);
    if (fresh) {
      for (const Fact next : chain.items()) known->second = next.name();
    }
    return known->second;
  }

  std::unordered_map<std::uint32_t, Name> last_;
};

}  // namespace opseal
