#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "opseal/facts.h"

namespace opseal {

// What a word in the place of a platform stands for.
enum class PlatformRole : std::uint8_t {
  // Hardware, or a library that runs on it.
  device,
  // Several devices under one word: JAX's `gpu`.
  family,
  // Serves every device: `any`, torch's composite keys.
  every,
  // Wraps other kernels or computes shapes only; serves no device by itself.
  wrapper,
  // A word that no table here has.
  unknown
};

struct Platform {
  // The one spelling that all spellings share, in lower case; for an unknown word, the word as it
  // was written. Good as long as the facts are.
  std::string_view name;
  PlatformRole role = PlatformRole::unknown;
  // Name of the hardware below: `cpu` for torch's `QuantizedCPU`, which is a table beside `CPU` and
  // runs on the same device. Else the name.
  std::string_view hardware;
};

// By the table of known spellings alone: first as written, then in lower case, then without a
// device number (`CUDA0`, `cuda:1`).
Platform canonical_platform(std::string_view written);

// The same device, or the same word where no table knows it; letter case doesn't matter.
bool same_platform(const Platform& a, const Platform& b);

// A call on `asked` can reach what is registered for `registered`: it is the same, serves every
// device, is a table for the same hardware, or one of the two is a family that the other belongs
// to.
bool platform_reaches(const Platform& asked, const Platform& registered);

// The words of one manifest, its `platform_aliases` included. Remembers what it looked up, since
// millions of kernels say a dozen words.
class PlatformNames {
 public:
  // Reads `platform_aliases`.
  explicit PlatformNames(const Fact& manifest);

  // The name at the end of the chain of aliases, letter case and all. The names of a ring have no
  // end and are one.
  Name resolve(Name name);
  // Of a text; a fact that is none gives an empty, unknown platform.
  Platform of(const Fact& written);
  bool reaches(const Fact& asked, const Fact& registered) {
    return platform_reaches(of(asked), of(registered));
  }
  bool same(const Fact& a, const Fact& b) {
    return a.name() == b.name() || same_platform(of(a), of(b));
  }

 private:
  std::unordered_map<Name, Name> aliases_;
  // Names whose alias was followed to the end already.
  std::unordered_map<Name, Name> resolved_;
  std::unordered_map<Name, Platform> seen_;
};

// What `required_platforms` of the manifest and of the settings of the run ask for, each platform
// once. Empty when nobody asks. Stops after 64, since each is held against every operator.
std::vector<Fact> required_platforms(const Facts& facts, const Fact& manifest,
                                     PlatformNames& names);

// The walk that made the manifest could see kernels for this platform. False where `devices` is
// said and lacks it: what is registered only where a device is present is then not said.
bool platform_was_visible(const Fact& manifest, const Fact& asked, PlatformNames& names);

// XLA's table of handlers by name, as Python programs reach it (`jax.ffi.register_ffi_target`).
bool registers_with_xla(const Fact& manifest);
// Spellings under which that table is read, exactly; any other word lands in a list that waits for
// a plugin of that very name.
std::vector<std::string_view> xla_registration_platforms();

}  // namespace opseal
