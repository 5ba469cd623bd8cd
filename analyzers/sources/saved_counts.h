#pragma once

#include <cstdint>
#include <vector>

#include "analyzers/python/registrations.h"
#include "analyzers/sources/placed_writer.h"

namespace opseal {

// See `PythonSavedCounts`.
struct SavedCounts {
  struct Count {
    std::uint32_t values = 0;
    SourcePlace place;
  };

  std::vector<Count> saved;
  std::vector<Count> taken;
};

inline SavedCounts saved_counts(const PythonSavedCounts& from, std::uint32_t file) {
  SavedCounts counts;
  if (!from.known()) return counts;
  for (const auto& one : from.saved) {
    counts.saved.push_back({one.values, {file, one.place.offset, one.place.length}});
  }
  for (const auto& one : from.taken) {
    counts.taken.push_back({one.values, {file, one.place.offset, one.place.length}});
  }
  return counts;
}

// Needs: an open gradient.
inline void write_saved(const SavedCounts& counts, PlacedWriter& writer) {
  if (counts.saved.empty() || counts.taken.empty()) return;
  const std::uint32_t saved = writer.open(Key::writes, NodeType::list, counts.saved[0].place);
  for (const auto& one : counts.saved) writer.count(Key::none, one.values, one.place);
  writer.close(saved);
  const std::uint32_t taken = writer.open(Key::reads, NodeType::list, counts.taken[0].place);
  for (const auto& one : counts.taken) writer.count(Key::none, one.values, one.place);
  writer.close(taken);
}

}  // namespace opseal
