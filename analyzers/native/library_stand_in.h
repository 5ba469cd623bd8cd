#pragma once

#include <cstdint>
#include <string_view>

namespace opseal {

// What may lie where a library is expected, and is none.
enum class StandIn : std::uint8_t {
  // Nothing that is known: it may be a library of some kind.
  none,
  empty,
  // What Git LFS keeps in place of a large file that wasn't fetched.
  lfs_pointer,
  // Text for GNU ld, which a linker takes for a library and a loader doesn't.
  linker_script,
  // Other text, such as the target of a symbolic link that was stored as a file.
  text,
};

// By the first bytes of a file, all of them where it is short.
StandIn stand_in_of(std::string_view head);

// `x.so`, `x.so.1.2`, `x.pyd`, `x.dylib`, `x.dll`: what loaders are given by name.
bool is_loadable_name(std::string_view path);

// "is empty", as a message goes on behind the name of a file.
std::string_view to_text(StandIn kind);

}  // namespace opseal
