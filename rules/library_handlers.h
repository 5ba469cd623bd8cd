#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "rules/library_exports.h"

namespace opseal {

// The handlers that were read from built libraries, by the target that names their symbol.
class LibraryHandlers {
 public:
  explicit LibraryHandlers(const LibraryFacts& libraries) : named_(libraries) {
    libraries.for_each(
        [this](const Document&, const Fact&, const Fact&, const Fact& content) { add(content); });
  }

  bool empty() const { return by_symbol_.empty(); }

  // The handler behind a target that says its symbol and its library; not said where there is none.
  Fact of(const Fact& manifest, const Fact& target) const {
    const Fact library = content_of(manifest, target);
    if (!library.said()) return {};
    const auto found = by_symbol_.find(key(library, target[Key::symbol]));
    return found == by_symbol_.end() ? Fact() : found->second;
  }

  // The content of the target's library, where it has handlers.
  Fact content_of(const Fact& manifest, const Fact& target) const {
    if (empty() || !target[Key::symbol].is_text() || !target[Key::library].is_text()) return {};
    const Fact content = named_.find(manifest, target[Key::library].text());
    return content[Key::handlers].size() > 0 ? content : Fact();
  }

 private:
  static std::uint64_t key(const Fact& content, const Fact& symbol) {
    return std::uint64_t{content.index()} << 32 | symbol.name();
  }

  void add(const Fact& content) {
    for (const Fact handler : content[Key::handlers].items()) {
      const Fact symbol = handler[Key::symbol];
      if (symbol.is_text()) by_symbol_.try_emplace(key(content, symbol), handler);
    }
  }

  NamedLibraries named_;
  std::unordered_map<std::uint64_t, Fact> by_symbol_;
};

}  // namespace opseal
