#pragma once

#include <cstdint>
#include <vector>

#include "analyzers/python/cache_keys.h"

namespace opseal {

class PlacedWriter;

// A cache of built code that a file makes.
struct CacheRecord {
  std::uint32_t file = 0;
  PythonCache cache;
  // Places from this offset on are those of another file, from its begin; 0: there are none.
  std::uint32_t tail = 0;
  std::uint32_t tail_file = 0;
};

// Into the list of caches.
void write_caches(const std::vector<CacheRecord>& records, PlacedWriter& writer);

}  // namespace opseal
