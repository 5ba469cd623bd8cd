#pragma once

#include <string>
#include <string_view>

#include "opseal/registration.h"
#include "opseal/text.h"

namespace opseal {

// Calls `visit(manifest, cache)` for each cache of each manifest.
template <typename Visit>
void for_each_cache(const Facts& facts, Visit visit) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    for (const Fact cache : manifest[Key::caches].items()) {
      if (cache.said()) visit(manifest, cache);
    }
  }
}

// "cache kernels"; one that is called a cache needs no word more: "kernel_cache".
inline std::string cache_subject(const Fact& cache) {
  const std::string name(cache[Key::name].text());
  const bool told = name.size() > 5 && lower(name).ends_with("cache");
  return told ? name : "cache " + name;
}

// "cache kernels: mv_0b31f62c9d5e4a70". A directory that is nothing but the key tells people less
// than the name of what is in it: "cache triton: scale_kernel".
inline std::string entry_subject(const Fact& cache, const Fact& entry) {
  const Fact name = entry[Key::name];
  std::string_view directory = entry[Key::directory].text(name.text());
  if (!name.text().empty() && entry[Key::key].is(directory)) directory = name.text();
  return cache_subject(cache) + ": " + std::string(directory);
}

// " (key made at `pkg/cache.py:57`)", or empty.
inline std::string key_site(const Fact& cache) {
  const std::string place = place_text(cache[Key::location]);
  return place.empty() ? place : " (key made at " + place + ")";
}

// A cache in memory ends with its process, and with it most of what could change behind the key.
inline bool outlives_process(const Fact& cache) { return !cache[Key::kind].is("memory"); }

// Whether the entries are built by a compiler. A cache of tuning results or downloads has a key
// too, but headers and flags are nothing to it.
inline bool holds_built_code(const Fact& cache) {
  for (const std::string_view word : {"source", "specs", "headers", "compiler", "compiler_version",
                                      "flags", "link_flags", "include_paths"}) {
    if (list_has(cache[Key::inputs], word) || list_has(cache[Key::required_inputs], word)) {
      return true;
    }
  }
  if (cache[Key::headers].present() || cache[Key::suffix].present()) return true;
  for (const Fact entry : cache[Key::entries].items()) {
    if (entry[Key::library].present() || entry[Key::functions].present()) return true;
  }
  return false;
}

// The key has the input, by its own word or by one that holds at least as much: a compiler's
// identity includes its version, an operator's schema names the functions and their parameters,
// options include flags.
inline bool has_key_input(const Fact& inputs, std::string_view wanted) {
  struct StandIn {
    std::string_view wanted;
    std::string_view serves;
  };
  constexpr StandIn stand_ins[] = {
      {"compiler_version", "compiler"},
      {"specs", "operator_schema"},
      {"flags", "options"},
  };
  if (list_has(inputs, wanted)) return true;
  for (const StandIn& stand_in : stand_ins) {
    if (stand_in.wanted == wanted && list_has(inputs, stand_in.serves)) return true;
  }
  return false;
}

}  // namespace opseal
