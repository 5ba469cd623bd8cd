#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzers/native/elf.h"

namespace opseal {

// An operator schema that stands as a text in read-only data.
struct SchemaString {
  std::string_view text;
  // Of the loaded file.
  std::uint64_t address = 0;
  // Bytes of the file.
  std::uint64_t offset = 0;
};

// Texts in torch's schema language, in the order of the file, repeated ones too. A text is taken
// for a schema where it has a name, every argument has a name, and all types are torch's: other
// signatures in documentation and messages fail that. Throws InputError.
std::vector<SchemaString> find_torch_schemas(const Elf& elf);

}  // namespace opseal
