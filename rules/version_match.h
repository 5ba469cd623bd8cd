#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "opseal/facts.h"

namespace opseal {

// How a framework finds the kernel for a version of an operator.
struct VersionMatch {
  std::string_view system;
  // A kernel [since, null] serves nothing but `since`. Elsewhere it serves whatever follows.
  bool open_end_is_exact = false;
  // Only versions at which the schema changed are ever looked up, so that a number between two of
  // them is no hole.
  bool only_schema_versions = false;
};

inline constexpr VersionMatch version_matches[] = {
    // KernelRegistry::VerifyKernelDef (onnxruntime/core/framework/kernel_registry.cc).
    {"onnxruntime", true, true},
    // OpResolver registers each version of [min_version, max_version]
    // (tensorflow/lite/mutable_op_resolver.cc).
    {"tflite", false, false},
};
// Everywhere else an open end is taken to be open: the reading that accuses less.
inline constexpr VersionMatch plain_version_match{};

const VersionMatch& version_match(const Fact& manifest);

// Versions [since, until] that a kernel serves by its framework's rule.
struct ServedRange {
  Fact op;
  Fact kernel;
  // Canonical.
  std::string_view platform;
  std::uint32_t since = 0;
  std::uint32_t until = 0;
  // The furthest end among the ranges of its platform that start no later.
  std::uint32_t reach = 0;
  // What the kernel doesn't say of its versions was taken to serve the most.
  bool assumed = false;
};

struct SchemaVersion {
  std::uint32_t version = 0;
  Fact op;
  // Nobody should serve or expect it: deprecated, experimental, newer than the released opset of
  // its domain, or an entry that doesn't say which kernels it has.
  bool expected = true;
  bool function_body = false;
};

// All that is said about one operator over its versions.
struct VersionGroup {
  Fact manifest;
  VersionMatch match;
  // Ascending, each version once.
  std::vector<SchemaVersion> schemas;
  // By platform, then `since`; kernels that serve every platform are in `everywhere`.
  std::vector<ServedRange> ranges;
  std::vector<ServedRange> everywhere;
  // Every kernel was read.
  bool whole = true;
};

using RangeIterator = std::vector<ServedRange>::const_iterator;

// Needs: the ranges of one platform.
inline bool serves(RangeIterator first, RangeIterator end, std::uint32_t version) {
  const auto after = std::upper_bound(
      first, end, version,
      [](std::uint32_t wanted, const ServedRange& range) { return wanted < range.since; });
  return after != first && (after - 1)->reach >= version;
}

inline bool served_everywhere(const VersionGroup& group, std::uint32_t version) {
  return serves(group.everywhere.begin(), group.everywhere.end(), version);
}

// Of the ranges of one platform the one that goes on furthest. Needs: at least one.
inline const ServedRange& furthest(RangeIterator first, RangeIterator end) {
  return *std::max_element(first, end, [](const ServedRange& a, const ServedRange& b) {
    return a.until != b.until ? a.until < b.until : a.since < b.since;
  });
}

// The fact that says which versions a kernel serves.
inline Fact versions_of(const ServedRange& range) {
  const Fact own = range.kernel[Key::versions];
  if (own.said()) return own;
  const Fact entry = range.op[Key::versions];
  return entry.said() ? entry : range.kernel[Key::platform];
}

// Platforms of one operator that are looked at; each is held against every version.
inline constexpr std::size_t most_version_platforms = 64;

// Calls `visit(first, end)` for each platform of the group: its ranges are [first, end).
template <typename Visit>
void for_each_platform(const VersionGroup& group, Visit visit) {
  std::size_t platforms = 0;
  for (auto first = group.ranges.begin(); first != group.ranges.end();) {
    auto end = first;
    while (end != group.ranges.end() && end->platform == first->platform) ++end;
    if (++platforms > most_version_platforms) return;
    visit(first, end);
    first = end;
  }
}

// Calls `visit(group)` for each operator (manifest, namespace, name) that says versions anywhere.
// The group is good during the call.
void for_each_version_group(const Facts& facts, void (*visit)(const VersionGroup&, void*),
                            void* context);

template <typename Visit>
void for_each_version_group(const Facts& facts, Visit visit) {
  for_each_version_group(
      facts,
      [](const VersionGroup& group, void* context) { (*static_cast<Visit*>(context))(group); },
      &visit);
}

}  // namespace opseal
