#pragma once

#include <string>
#include <utility>
#include <vector>

namespace opseal {

// Everything that decides what a precompiled header holds, but for the bytes of the headers: which
// these are is known when it is made, so their digests stand in its entry.
struct HeadersKey {
  // Which program made it, and from what form of entry on.
  std::string program;
  // All that libclang says of its version.
  std::string libclang;
  std::string target;
  // Relative paths of flags begin there.
  std::string directory;
  // Each with its operand, in order.
  std::vector<std::string> flags;
  // Paths and texts of headers that are on no disk.
  std::vector<std::pair<std::string, std::string>> memory;
  // Paths and digests of headers of the standard library, of C and of the compiler: which of
  // several installed ones it takes, no flag says.
  std::vector<std::pair<std::string, std::string>> toolchain;
  // The lines that include the headers.
  std::string block;
};

// The name of an entry: 32 hexadecimal digits.
std::string name_of(const HeadersKey& key);

// A flag whose operand is the next word is one with it.
std::vector<std::string> with_operands(const std::vector<std::string>& flags);

}  // namespace opseal
