#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "opseal/registration.h"

namespace opseal {

// A dispatch key of torch that is a layer of the dispatcher and no device: which of them an
// operator has says how it is built, not where it runs.
inline bool is_dispatch_layer(std::string_view platform) {
  static constexpr std::array<std::string_view, 6> beginnings = {
      "Autograd", "Autocast", "Composite", "FuncTorch", "Python", "Batched"};
  static constexpr std::array<std::string_view, 10> names = {
      "Meta",      "ADInplaceOrView", "Functionalize", "Tracer",      "Named",
      "Conjugate", "Negative",        "ZeroTensor",    "PreDispatch", "BackendSelect"};
  return std::find(names.begin(), names.end(), platform) != names.end() ||
         std::any_of(beginnings.begin(), beginnings.end(), [platform](std::string_view beginning) {
           return platform.starts_with(beginning);
         });
}

// Holds a convention against an operator only where its peers keep it: the other operators of the
// same manifest and namespace that have kernels on the same platforms. Most registries leave most
// things out on purpose (a quarter of JAX's primitives have no batching rule), so that absence
// alone proves nothing; absence where nearly every neighbour has the thing does.
class OddOneOut {
 public:
  static constexpr std::uint32_t fewest_peers = 5;
  // Of a hundred peers.
  static constexpr std::uint32_t least_keeping = 90;

  // An operator that lacks what its peers may have.
  struct Lacking {
    Fact manifest;
    Fact op;
    std::uint32_t peers = 0;
    std::uint32_t keeping = 0;

    bool is_odd() const {
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
      if (group.members > fewest_peers) operators += group.keeping;
    }
    return operators;
  }

  // Those that have enough peers to be judged, in the order in which they were counted.
  template <typename Visit>
  void for_each_lacking(Visit visit) const {
    for (const Row& row : lacking_) {
      const Group& group = groups_.at(row.group);
      const std::uint32_t peers = group.members - 1;
      if (peers >= fewest_peers) visit(Lacking{row.manifest, row.op, peers, group.keeping});
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
    platforms_.clear();
    for (const Fact kernel : op[Key::kernels].items()) {
      const Fact platform = kernel[Key::platform];
      if (!is_active_kernel(kernel) || !platform.is_text()) continue;
      if (!is_dispatch_layer(platform.text())) platforms_.push_back(platform.name());
    }
    if (platforms_.empty()) return no_group;
    std::sort(platforms_.begin(), platforms_.end());
    platforms_.erase(std::unique(platforms_.begin(), platforms_.end()), platforms_.end());
    std::uint64_t hash = mix(1, manifest.index());
    hash = mix(hash, op[Key::namespace_].name());
    for (const Name platform : platforms_) hash = mix(hash, platform);
    return hash == no_group ? 1 : hash;
  }

  std::unordered_map<std::uint64_t, Group> groups_;
  std::vector<Row> lacking_;
  // Kept between calls only to spare an allocation for each operator.
  std::vector<Name> platforms_;
};

}  // namespace opseal
