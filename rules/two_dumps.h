#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "opseal/platforms.h"
#include "opseal/registration.h"

namespace opseal {

// An operator or target with the manifest that says it.
struct Registered {
  Fact manifest;
  Fact item;
};

struct RegisteredPair {
  Registered before;
  Registered after;
};

// What two dumps say of one list (`operators`, `targets`), joined by identity; equal identities of
// one dump are paired in their order.
struct Paired {
  std::vector<RegisteredPair> pairs;
  // In the dump before alone. Empty where the other dump leaves out the list, or has elements that
  // could not be read: what is missing there may just not be said.
  std::vector<Registered> removed;
  // The same of the dump after.
  std::vector<Registered> added;
  // Further registrations of an identity that both dumps have, in one of them alone.
  std::vector<Registered> fewer;
  std::vector<Registered> more;
  // In one dump alone where the other can't tell.
  std::uint64_t unsaid = 0;
};

// Identity of an operator: system, namespace, name, first version, `identity`.
Paired pair_operators(const Facts& facts);
// Identity of a target: platform in its canonical spelling, name.
Paired pair_targets(const Facts& facts);

enum class Release : std::uint8_t { same, other, unknown };

// Manifests of one system, first with first, so that a folder of dumps is no square of pairs.
std::vector<std::pair<Fact, Fact>> pair_manifests(const Facts& facts);

template <typename Visit>
void for_each_manifest_pair(const Facts& facts, Visit visit) {
  for (const auto& [before, after] : pair_manifests(facts)) visit(before, after);
}

// Whether two manifests say the same packages in the same versions. Unknown where one says none.
Release compare_releases(const Fact& before, const Fact& after);

// "3.11" of a manifest's `producer.python`; empty where it isn't said.
std::string_view python_minor(const Fact& manifest);

// The part of a qualified name that the function's own `def` says: what stands in front changes
// when a module moves.
std::string_view own_name(std::string_view qualified);

// A kernel that serves calls, with what it is looked up by.
struct ServingKernel {
  Platform platform;
  std::string_view backend;
  Fact kernel;
  // It only raises: it says so, or the operator says so of its platform.
  bool stub = false;
};

// The platform names of each manifest, made once.
class NamesByManifest {
 public:
  PlatformNames& of(const Fact& manifest) {
    return names_.try_emplace(manifest.index(), manifest).first->second;
  }

 private:
  std::unordered_map<std::uint32_t, PlatformNames> names_;
};

// The serving kernels of an operator, sorted by platform and backend and else in their order.
// Kernels whose platform couldn't be read are left out.
std::vector<ServingKernel> serving_kernels(const Fact& op, PlatformNames& names);

// Platforms of one operator that are held against its kernels, at most: the work is their product.
inline constexpr std::size_t most_platforms = 64;

// Each platform of some kernels once. Needs: sorted as `serving_kernels` gives them.
std::vector<Platform> platforms_of(const std::vector<ServingKernel>& kernels);

// The kernels that are no stubs and that a call on a platform can end in.
std::vector<ServingKernel> kernels_reached(const std::vector<ServingKernel>& kernels,
                                           const Platform& platform);

}  // namespace opseal
