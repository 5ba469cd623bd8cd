#pragma once

#include <string>
#include <string_view>

#include "opseal/facts.h"

namespace opseal {

// The system libraries that the platform tag of a wheel lets it expect.
enum class PlatformBase {
  // No tag that promises anything (`linux_x86_64`, no wheel).
  none,
  // PEP 513, 571, 599 and 600: `manylinux1`, `manylinux2010`, `manylinux2014`, `manylinux_2_28`.
  manylinux,
  // PEP 656: `musllinux_1_2`.
  musllinux,
};

// Of a package; the weaker promise where it has several tags.
PlatformBase platform_base(const Fact& distribution);

// The platform part of its first tag: `manylinux2014_x86_64`. Empty where there is none.
std::string_view platform_tag(const Fact& distribution);

// Whether every system with that tag has the library, by its soname.
bool is_base_library(PlatformBase base, std::string_view soname);

// Libraries that come with the loader itself, on any system.
bool is_loader_library(std::string_view soname);

// Libraries of frameworks, drivers, vendors' runtimes and interpreters, which users install apart:
// torch, NVIDIA, ROCm, oneAPI, Python and so on.
bool is_framework_library(std::string_view soname);

// Whether a package that `requirement` names (`z3-solver>=4.13`) may well bring the library: one's
// name is a part of the other's.
bool may_bring(std::string_view requirement, std::string_view soname);

// Whether a requirement asks for exactly that version and nothing else, as `foo-cu12==0.13.0` does
// of `0.13.0`: parts of one release name each other so. False for one that only an extra asks for.
bool asks_for_version(std::string_view requirement, std::string_view version);

// `libfoo.so.2` -> `libfoo.so`: what stays the same from one version to the next.
std::string_view soname_family(std::string_view soname);
// `libfoo.so.2` -> `2`; empty without one.
std::string_view soname_version(std::string_view soname);

}  // namespace opseal
