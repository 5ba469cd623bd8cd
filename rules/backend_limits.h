#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "opseal/dtypes.h"
#include "opseal/platforms.h"
#include "opseal/registration.h"
#include "opseal/text.h"

namespace opseal {

// What a backend can't be handed at all, whatever the kernel does.
struct BackendLimit {
  // The kernel's `backend`, or the canonical name of its platform.
  std::string_view backend;
  // Where only XLA's bridge to it has the limit.
  bool only_through_xla = false;
  bool refuses_zero_dim = false;
  bool lacks_bfloat16 = false;
  bool lacks_float64 = false;
  bool lacks_complex = false;
  // Integers of 16 and of 64 bits.
  bool lacks_short_and_long = false;
  // Floats and integers below 8 bits, floats of 8 bits, block formats.
  bool lacks_narrow = false;
};

// Sources: Warp's list of scalar types and its arrays of one to four dimensions (warp/types.py),
// and the notes of its release 1.13, which brought `wp.bfloat16`;
// the numba CUDA bridge of brainevent; the scalar types of the Metal shading language, which the
// MPS device repeats in its error for float64; WGSL's scalar types; Triton's `tl.dtype`.
// numba's own dtypes are in `dtype-rejected`, which knows the bridge in both directions.
inline constexpr std::array backend_limits{
    BackendLimit{.backend = "warp",
                 .refuses_zero_dim = true,
                 .lacks_bfloat16 = true,
                 .lacks_complex = true,
                 .lacks_narrow = true},
    BackendLimit{.backend = "numba_cuda", .only_through_xla = true, .refuses_zero_dim = true},
    BackendLimit{.backend = "metal", .lacks_float64 = true},
    BackendLimit{.backend = "webgpu",
                 .lacks_bfloat16 = true,
                 .lacks_float64 = true,
                 .lacks_short_and_long = true},
    BackendLimit{.backend = "triton", .lacks_complex = true},
};

// NVIDIA's Warp, by the version that the producer ran with.
inline Fact warp_version(const Fact& manifest) {
  return manifest[Key::producer][Key::packages].at("warp-lang");
}

// Other projects call their own code `warp`: after the threads that run together, or a loom.
inline bool means_nvidia_warp(const Fact& manifest) {
  return registers_with_xla(manifest) || warp_version(manifest).is_text();
}

// False as well where the version isn't said.
inline bool is_older_warp(const Fact& manifest, std::uint32_t major, std::uint32_t minor) {
  std::string_view version = warp_version(manifest).text();
  const auto take_number = [&version](std::uint32_t& number) {
    std::size_t digits = 0;
    for (number = 0; digits < version.size() && digits < 6; ++digits) {
      if (version[digits] < '0' || version[digits] > '9') break;
      number = number * 10 + static_cast<std::uint32_t>(version[digits] - '0');
    }
    version.remove_prefix(digits);
    return digits > 0;
  };
  std::uint32_t own_major = 0;
  std::uint32_t own_minor = 0;
  if (!take_number(own_major) || !version.starts_with('.')) return false;
  version.remove_prefix(1);
  if (!take_number(own_minor)) return false;
  return own_major < major || (own_major == major && own_minor < minor);
}

inline std::optional<BackendLimit> limit_of(const Fact& manifest, const Fact& kernel,
                                            PlatformNames& names) {
  const std::string_view backend = kernel[Key::backend].text();
  const std::string_view platform = names.of(kernel[Key::platform]).name;
  for (const BackendLimit& limit : backend_limits) {
    if (limit.only_through_xla && !registers_with_xla(manifest)) continue;
    // Whose backend is another's runs on that: `metal` by `jax_raw` is still Metal, but a `cpu`
    // kernel that is called `metal` by nobody isn't.
    const bool by_backend =
        backend.size() == limit.backend.size() && lower(backend) == limit.backend;
    if (!by_backend && platform != limit.backend) continue;
    BackendLimit own = limit;
    if (limit.backend == "warp") {
      if (!means_nvidia_warp(manifest)) return std::nullopt;
      own.lacks_bfloat16 = is_older_warp(manifest, 1, 13);
    }
    // ONNX Runtime keeps an integer of 64 bits in two words.
    if (limit.backend == "webgpu" && manifest[Key::system].is("onnxruntime")) {
      own.lacks_short_and_long = false;
    }
    return own;
  }
  return std::nullopt;
}

inline bool cannot_take(const BackendLimit& limit, const Dtype& dtype) {
  // Words of two meanings, text and handles.
  if (dtype.bits == 0 || !dtype.first.empty()) return false;
  switch (dtype.kind) {
    case DtypeKind::complex:
      return limit.lacks_complex || (limit.lacks_float64 && dtype.bits >= 128);
    case DtypeKind::block:
      return limit.lacks_narrow;
    case DtypeKind::floating:
      if (dtype.name == "bf16") return limit.lacks_bfloat16;
      if (dtype.bits >= 64) return limit.lacks_float64;
      return dtype.bits <= 8 && limit.lacks_narrow;
    case DtypeKind::signed_integer:
    case DtypeKind::unsigned_integer:
      if (dtype.bits == 16 || dtype.bits == 64) return limit.lacks_short_and_long;
      return dtype.bits < 8 && limit.lacks_narrow;
    case DtypeKind::boolean:
    case DtypeKind::opaque:
      break;
  }
  return false;
}

}  // namespace opseal
