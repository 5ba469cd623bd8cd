#pragma once

#include <unordered_map>
#include <unordered_set>

#include "opseal/registration.h"

namespace opseal {

// What is known of the content of libraries: said by a manifest itself (a dump does), or read from
// the file that it names or that was given.
class LibraryFacts {
 public:
  explicit LibraryFacts(const Facts& facts) : facts_(&facts) {
    for (const Document& document : facts.documents) {
      if (!document.settings) continue;
      for (const Fact seen : facts.root(document)[Key::entries].items()) {
        const Fact hidden = seen[Key::hidden];
        if (hidden.said()) hidden_.emplace(seen[Key::library].count(), hidden);
        if (!seen[Key::content].is_count()) continue;
        const Fact content = facts.fact(seen[Key::content].count());
        read_.emplace(seen[Key::library].count(), content);
        contents_.insert(content.index());
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

  // The definitions that a library keeps to itself and others ask for: said by a manifest, or found
  // in its file. Needs: what `content` gave.
  Fact hidden(const Fact& content) const {
    if (content[Key::hidden].said()) return content[Key::hidden];
    const auto found = hidden_.find(content.index());
    return found == hidden_.end() ? Fact() : found->second;
  }

  // Calls `visit(document, manifest, library, content)` for each library, each once: what was read
  // for a manifest's library is its content and no library of its own.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const Document& document : facts_->documents) {
      if (document.settings) continue;
      const Fact manifest = facts_->root(document);
      for (const Fact library : manifest[Key::libraries].items()) {
        if (!library.is_object() || contents_.contains(library.index())) continue;
        visit(document, manifest, library, content(library));
      }
    }
  }

 private:
  const Facts* facts_;
  // Library of a manifest -> what was read of it.
  std::unordered_map<std::uint32_t, Fact> read_;
  std::unordered_set<std::uint32_t> contents_;
  // Library -> its list.
  std::unordered_map<std::uint32_t, Fact> hidden_;
};

}  // namespace opseal
