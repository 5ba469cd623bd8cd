#pragma once

#include <string>
#include <string_view>

#include "analyzers/cache_description.h"
#include "opseal/facts.h"

namespace opseal {

struct CacheLayout;

// What a directory is read as: a cache in a layout that opseal knows, or one that the configuration
// describes. One of the two is set.
struct CacheReader {
  const CacheLayout* layout = nullptr;
  const CacheDescription* description = nullptr;

  explicit operator bool() const { return layout != nullptr || description != nullptr; }
};

// The layout that what is in a directory shows it to have; none for most directories. Cheap: tries
// a few hundred children that are named like entries, whatever the directory holds.
CacheReader find_cache(const std::string& directory);

// Whether a child of the directory is an entry, and so read with the cache and not by itself.
// Needs: a found reader.
bool is_cache_entry(const CacheReader& reader, const std::string& directory,
                    std::string_view child);

// What a cache directory says: one document that states `caches` and, for libraries that are there,
// `libraries`. `input.open_path` is the directory; the facts have a file for each entry, and one
// for each text file that says something. Nothing in it is loaded, run or written.
Facts load_cache(const CacheReader& reader, InputFile input);

}  // namespace opseal
