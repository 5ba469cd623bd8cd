#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/native/elf.h"

namespace opseal {

// A mark that a framework's registration leaves in a built file.
struct Registrar {
  // As in manifests: `torch`, `onnxruntime`, `ggml`, `tvm-ffi`, `executorch`, `python`.
  std::string_view system;
  enum class Kind : std::uint8_t {
    // Defines operators (TORCH_LIBRARY): one owner for each namespace.
    definition,
    // Adds to a namespace that another may own (TORCH_LIBRARY_FRAGMENT).
    fragment,
    // Kernels for one dispatch key (TORCH_LIBRARY_IMPL).
    implementation,
    // A function that the framework looks up by name: `RegisterCustomOps`, `ggml_backend_init`,
    // `PyInit_x`, `__tvm_ffi_add`.
    entry,
    // Imports of the registration interface show that something is registered, and not what:
    // stripped
    // files have no more. Of torch also texts whose block isn't known; without a symbol then.
    imports,
  };
  Kind kind = Kind::entry;
  std::string namespace_;
  // Dispatch key of an implementation: `CUDA`. Of a ggml entry its backend: `cuda`.
  std::string platform;
  // The symbol that shows it.
  std::string symbol;
  // Operator schemas that stand in read-only data and belong to it (`add(Tensor a) -> Tensor`), as
  // written: with or without the namespace. Those of `imports` may be mere mentions of operators
  // that others define.
  std::vector<std::string> schemas;
  // Bytes of the file.
  std::uint64_t offset = 0;
};

// Throws InputError.
std::vector<Registrar> find_registrars(const Elf& elf,
                                       const std::vector<ElfSymbol>& dynamic_symbols);

}  // namespace opseal
