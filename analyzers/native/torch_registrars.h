#pragma once

#include <vector>

#include "analyzers/native/registrars.h"

namespace opseal {

// PyTorch's marks, those of its stable interface among them. Where the symbol table names the
// registration blocks (`TORCH_LIBRARY`, `TORCH_LIBRARY_FRAGMENT`, `TORCH_LIBRARY_IMPL`, each also
// with `STABLE_`) there is one registrar for each kind, namespace and dispatch key; on stripped
// files one for each import of the registration interface. Schemas that belong to no known block
// stand in a registrar of kind `imports`. Throws InputError.
std::vector<Registrar> find_torch_registrars(const Elf& elf,
                                             const std::vector<ElfSymbol>& dynamic_symbols);

}  // namespace opseal
