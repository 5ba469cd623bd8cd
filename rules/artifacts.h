#pragma once

#include <unordered_map>

#include "opseal/registration.h"

namespace opseal {

// What is known of the file behind a library: said by the manifest, or seen when opseal looked.
class Artifacts {
 public:
  explicit Artifacts(const Facts& facts) {
    for (const Document& document : facts.documents) {
      if (!document.settings) continue;
      for (const Fact seen : facts.root(document)[Key::entries].items()) {
        if (seen[Key::library].is_count()) seen_.emplace(seen[Key::library].count(), seen);
      }
    }
  }

  // Calls `visit(manifest, library, found, found_digest)` for each library.
  template <typename Visit>
  void for_each_library(const Facts& facts, Visit visit) const {
    for (const Document& document : facts.documents) {
      // What was read from a file or a package is there, and nobody registered it by its path.
      if (document.settings || document.of_library != 0) continue;
      const Fact manifest = facts.root(document);
      if (facts.files[document.file].binary || manifest[Key::distribution].is_object()) continue;
      for (const Fact library : manifest[Key::libraries].items()) {
        const auto seen = seen_.find(library.index());
        const auto fact = [&](Key key) {
          return library[key].said() || seen == seen_.end() ? library[key] : seen->second[key];
        };
        visit(manifest, library, fact(Key::found), fact(Key::found_digest));
      }
    }
  }

 private:
  std::unordered_map<std::uint32_t, Fact> seen_;
};

}  // namespace opseal
