#pragma once

#include <cstdint>
#include <string_view>

#include "analyzers/source/plain_source.h"

namespace opseal {

// Which compiler makes code of a function.
enum class CodeSide : std::uint8_t {
  // A macro may say it, or it is nobody's.
  unknown,
  host,
  device,
  both,
  // `__global__`
  kernel,
};
inline bool is_host(CodeSide side) { return side != CodeSide::device && side != CodeSide::kernel; }

// Of the function scope with this index, from the words in front of its name.
CodeSide side_of_function(const PlainSource& source, std::uint32_t scope);

// The outermost function around a token that isn't in a class of its own within another one, or
// no_scope.
std::uint32_t function_around(const PlainSource& source, std::uint32_t token);

// Of the function around a token; `unknown` in a lambda that may be the device's.
CodeSide side_at(const PlainSource& source, std::uint32_t token);

// The name of a function; of a call operator that of its class.
std::string_view function_name(const PlainSource& source, std::uint32_t scope);

// Nothing in the file is for a device, so that the compiler of the host reads it alone.
bool is_host_file(const PlainSource& source, std::string_view path);

// The index of the first token of the declaration whose name is at `name`.
std::uint32_t declaration_start(const PlainSource& source, std::uint32_t name);

}  // namespace opseal
