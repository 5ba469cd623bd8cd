#pragma once

#include <optional>
#include <string_view>

namespace opseal {

// The decimal number in front of `text`, which it is taken from; nothing where none is, or one that
// is too large.
std::optional<unsigned> take_number(std::string_view& text);

// A platform of a wheel's tag that has a version: `manylinux_2_17_x86_64`.
struct PlatformTag {
  // `manylinux_`, `musllinux_` or `macosx_`.
  std::string_view family;
  // The least version of the system that the wheel runs on: of glibc, of musl, of macOS.
  unsigned major_version = 0;
  unsigned minor_version = 0;
  // `x86_64`; empty where the tag names none.
  std::string_view machine;
};

// Reads the last part of a wheel's tag (PEP 600, PEP 656 and the names before them:
// `manylinux2014_x86_64`). Nothing for platforms without a version: `linux_x86_64`, `win_amd64`.
std::optional<PlatformTag> read_platform_tag(std::string_view platform);

}  // namespace opseal
