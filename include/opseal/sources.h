#pragma once

#include <string_view>

#include "opseal/facts.h"

namespace opseal {

// Documents that opseal read from sources: what stands there is what the text says, with every
// branch of its conditionals, and what it doesn't say a build may still have.

// `producer.name` of such a document.
inline constexpr std::string_view sources_producer = "sources";

inline bool is_of_sources(const Fact& manifest) {
  return manifest[Key::tree].said() && manifest[Key::producer][Key::name].is(sources_producer);
}

// The source that says a registration: a dump states it as its place.
inline std::string_view source_of(const Fact& item) {
  const Fact stated = item[Key::location][Key::file];
  if (stated.is_text()) return stated.text();
  const std::uint32_t file = item.where().file;
  return file < item.facts().files.size() ? std::string_view(item.facts().files[file].path)
                                          : std::string_view();
}

// The registration stands in a Python file.
inline bool is_in_python(const Fact& item) { return source_of(item).ends_with(".py"); }

// Other files of the project were not given: what is missing may be there.
inline bool is_partial_tree(const Fact& manifest) {
  return manifest[Key::tree][Key::partial].truth();
}

// Two rows of which a build may have just one: they depend on other conditions, or stand in files
// of which a build may take one. Never so for what was read from elsewhere.
inline bool may_be_alternatives(const Fact& manifest, const Fact& a, const Fact& b) {
  return is_of_sources(manifest) &&
         (a[Key::when].name() != b[Key::when].name() || source_of(a) != source_of(b));
}

}  // namespace opseal
