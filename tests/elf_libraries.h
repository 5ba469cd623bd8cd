#pragma once

#include <filesystem>
#include <string>

#include "tests/support.h"

namespace opseal::test {

// One of the libraries that tests/native/elf_libraries.cmake builds.
inline std::filesystem::path elf_library(const std::string& name) {
  return std::filesystem::path(OPSEAL_ELF_LIBRARIES) / name;
}

// The bytes of a library without section headers, as some tools leave it.
inline std::string without_sections(std::string bytes) {
  // Place, and then size of an entry, count and the number of the section with the names.
  bytes.replace(40, 8, 8, '\0');
  bytes.replace(58, 6, 6, '\0');
  return bytes;
}

}  // namespace opseal::test
