#pragma once

#include <unordered_map>

#include "opseal/registration.h"

namespace opseal {

// What is known of the content of libraries: said by a manifest itself (a dump does), or read from
// the file that it names or that was given.
class LibraryFacts {
 public:
  explicit LibraryFacts(const Facts& facts) : facts_(&facts) {
    for (const Document& document : facts.documents) {
      if (document.of_library == 0) continue;
      for (const Fact library : facts.root(document)[Key::libraries].items()) {
        read_.emplace(document.of_library, library);
      }
    }
  }

  // Where `exports`, `images` and so on of a manifest's library are to be looked for: the library
  // itself, or what was read from its file.
  Fact content(const Fact& library) const {
    if (library[Key::exports].said() || library[Key::images].said()) return library;
    const auto read = read_.find(library.index());
    return read == read_.end() ? library : read->second;
  }

  // Calls `visit(document, manifest, library, content)` for each library, each once: what was read
  // for a manifest's library is its content and no library of its own.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const Document& document : facts_->documents) {
      if (document.settings || document.of_library != 0) continue;
      const Fact manifest = facts_->root(document);
      for (const Fact library : manifest[Key::libraries].items()) {
        if (library.is_object()) visit(document, manifest, library, content(library));
      }
    }
  }

 private:
  const Facts* facts_;
  std::unordered_map<std::uint32_t, Fact> read_;
};

}  // namespace opseal
