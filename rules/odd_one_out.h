#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "opseal/digest.h"
#include "opseal/platforms.h"
#include "opseal/registration.h"

namespace opseal {

// Holds a convention against an operator only where its peers keep it: the other operators of the
// same manifest and namespace that have kernels on the same platforms. Most registries leave most
// things out on purpose (a quarter of JAX's primitives have no batching rule), so that absence
// alone proves nothing; absence where nearly every neighbour has the thing does.
class OddOneOut {
 public:
  static constexpr std::uint32_t fewest_peers = 5;
  // Of a hundred peers.
  static constexpr std::uint32_t least_keeping = 90;

  // `fewest`: peers from which on one is judged.
  explicit OddOneOut(std::uint32_t fewest = fewest_peers) : fewest_(fewest) {}

  // An operator that lacks what its peers may have.
  struct Lacking {
    Fact manifest;
    Fact op;
    std::uint32_t peers = 0;
    std::uint32_t keeping = 0;

    bool is_odd() const {
      // Of a few peers, each has to.
      if (peers < fewest_peers) return keeping == peers;
      return std::uint64_t{keeping} * 100 >= std::uint64_t{peers} * least_keeping;
    }
  };

  // Needs: the operator says whether it keeps the convention. One without a kernel on any device
  // has no peers and is left out.
  void count(const Fact& manifest, const Fact& op, bool keeps) {
    const std::uint64_t group = group_of(manifest, op);
    if (group == no_group) return;
    Group& counted = groups_[group];
    ++counted.members;
    if (keeps) {
      ++counted.keeping;
    } else {
      lacking_.push_back({manifest, op, group});
    }
  }

  // Operators that keep the convention and have enough peers to be judged.
  std::uint64_t judged_keeping() const {
    std::uint64_t operators = 0;
    for (const auto& [key, group] : groups_) {
      if (group.members > fewest_) operators += group.keeping;
    }
    return operators;
  }

  // Those that have enough peers to be judged, in the order in which they were counted.
  template <typename Visit>
  void for_each_lacking(Visit visit) const {
    for (const Row& row : lacking_) {
      const Group& group = groups_.at(row.group);
      const std::uint32_t peers = group.members - 1;
      if (peers >= fewest_) visit(Lacking{row.manifest, row.op, peers, group.keeping});
    }
  }

 private:
  struct Group {
    std::uint32_t members = 0;
    std::uint32_t keeping = 0;
  };
  struct Row {
    Fact manifest;
    Fact op;
    std::uint64_t group = 0;
  };

  static constexpr std::uint64_t no_group = 0;

  static std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 29);
  }

  std::uint64_t group_of(const Fact& manifest, const Fact& op) {
    if (!names_ || manifest.index() != manifest_) {
      names_.emplace(manifest);
      manifest_ = manifest.index();
    }
    platforms_.clear();
    for (const Fact kernel : op[Key::kernels].items()) {
      if (!is_active_kernel(kernel) || !kernel[Key::platform].is_text()) continue;
      const Platform platform = names_->of(kernel[Key::platform]);
      // A wrapper (autograd, shape functions) says how an operator is built, not where it runs.
      if (platform.role == PlatformRole::wrapper || platform.name == "autograd") continue;
      platforms_.push_back(hash_text(platform.name));
    }
    if (platforms_.empty()) return no_group;
    std::sort(platforms_.begin(), platforms_.end());
    platforms_.erase(std::unique(platforms_.begin(), platforms_.end()), platforms_.end());
    std::uint64_t hash = mix(1, manifest.index());
    hash = mix(hash, op[Key::namespace_].name());
    for (const std::uint64_t platform : platforms_) hash = mix(hash, platform);
    return hash == no_group ? 1 : hash;
  }

  std::uint32_t fewest_;
  std::unordered_map<std::uint64_t, Group> groups_;
  std::vector<Row> lacking_;
  // Kept between calls only to spare an allocation for each operator.
  std::vector<std::uint64_t> platforms_;
  std::optional<PlatformNames> names_;
  std::uint32_t manifest_ = 0;
};

}  // namespace opseal
