#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace opseal {

// The one exception of readers: from here on this input can't be read. `load_file` catches it, and
// nobody else does.
class InputError : public std::runtime_error {
 public:
  InputError(std::uint64_t at, std::uint64_t bytes, const std::string& message)
      : std::runtime_error(message), offset(at), length(bytes) {}

  // Bytes from the start of the file, and how many the report should show.
  std::uint64_t offset;
  std::uint64_t length;
};

}  // namespace opseal
