#pragma once

#include <cstdint>

#include "opseal/platforms.h"

namespace opseal {

// Equal for facts that say the same, in the same order.
std::uint64_t hash_of(const Fact& fact);

// What a registry selects a kernel by, apart from platform and backend: dtypes, signatures,
// versions, type constraints, parameters, priority, semantics, capabilities. Kernels that differ
// here are siblings and never compete.
std::uint64_t selection_of(const Fact& kernel);

// The same with the platform's canonical spelling and the backend.
std::uint64_t kernel_key(const Fact& kernel, PlatformNames& names);

// Every kernel of the operator was read, so that one which isn't listed isn't there.
bool kernels_known(const Fact& op);

// Two kernels are one registration met twice: both places are said and equal.
bool same_site(const Fact& a, const Fact& b);

}  // namespace opseal
