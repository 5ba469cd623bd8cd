#pragma once

#include <unordered_map>

#include "opseal/registration.h"

namespace opseal {

// The targets of a manifest, by name; of several with one name the first.
class NamedTargets {
 public:
  NamedTargets() = default;
  explicit NamedTargets(const Fact& manifest) {
    for (const Fact target : manifest[Key::targets].items()) {
      if (target[Key::name].is_text()) by_name_.emplace(target[Key::name].name(), target);
    }
  }

  // What names a kernel's symbol and library: the kernel itself, or the target that it names.
  Fact site(const Fact& kernel) const {
    if (kernel[Key::library].is_text() || !kernel[Key::target].is_text()) return kernel;
    const auto found = by_name_.find(kernel[Key::target].name());
    return found == by_name_.end() ? kernel : found->second;
  }

 private:
  std::unordered_map<Name, Fact> by_name_;
};

}  // namespace opseal
