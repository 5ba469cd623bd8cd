#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzers/native/elf_dynamic.h"

namespace opseal {

// Symbol versions as the GNU linker and loader know them.
struct SymbolVersions {
  struct Version {
    std::string_view name;
    // Empty for a version that the file itself defines.
    std::string_view library;
  };

  // Empty for symbols without one.
  const Version& of_symbol(std::uint64_t symbol) const;
  // Its version isn't the default one of its name.
  bool is_hidden(std::uint64_t symbol) const;

  // By the number that the symbols use.
  std::vector<Version> numbered;
  // For each dynamic symbol two bytes.
  Bytes numbers;
  std::vector<std::pair<std::string_view, std::vector<std::string_view>>> needs;
  std::vector<std::string_view> definitions;
};

// Throws InputError.
SymbolVersions read_symbol_versions(const Elf& elf, const DynamicTable& dynamic);

}  // namespace opseal
