#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzers/native/elf.h"

namespace opseal {

// A part of a host file that holds constants of the host: texts, names of types.
struct ReadOnlyData {
  std::uint64_t address = 0;
  // In bytes of the file.
  std::uint64_t offset = 0;
  std::string_view bytes;
};

// Without device code, whose images have texts of their own, and without unwind tables. Where the
// file has no section headers, whole segments. Throws InputError.
std::vector<ReadOnlyData> read_only_data(const Elf& elf);

// A text that stands in read-only data.
struct NamePlace {
  std::uint64_t address = 0;
  // Of the names asked for.
  std::uint32_t name = 0;
};

// Where names end at a zero byte, behind whatever byte; sorted by address. A name may be the end of
// another. Throws InputError.
std::vector<NamePlace> locate_names(const Elf& elf, const std::vector<std::string_view>& names);

}  // namespace opseal
