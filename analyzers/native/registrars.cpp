#include "analyzers/native/registrars.h"

#include <algorithm>
#include <utility>

#include "analyzers/native/torch_registrars.h"

namespace opseal {
namespace {

bool is_ggml_entry(std::string_view name) {
  if (name == "ggml_backend_init" || name == "ggml_backend_score") return true;
  // ggml-backend.h: `ggml_backend_cpu_reg`. This one asks a device for its registry.
  return name.starts_with("ggml_backend_") && name.ends_with("_reg") &&
         name != "ggml_backend_dev_backend_reg";
}

// `ggml_backend_cuda_reg`: `cuda`.
std::string_view ggml_backend(std::string_view name) {
  constexpr std::string_view prefix = "ggml_backend_", suffix = "_reg";
  if (!name.ends_with(suffix)) return "";
  return name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
}

// tvm/ffi/c_api.h: a second underscore behind `ffi` keeps a name for the framework (its metadata,
// documentation, embedded modules), and so is the entry of a whole module no operator.
bool is_tvm_function(std::string_view name) {
  constexpr std::string_view prefix = "__tvm_ffi_";
  return name.starts_with(prefix) && name.size() > prefix.size() && name[prefix.size()] != '_' &&
         name != "__tvm_ffi_main";
}

// The framework that looks up an exported function by this name; empty for others.
std::string_view system_of_export(std::string_view name) {
  // onnxruntime_c_api.h, `RegisterCustomOpsLibrary`: the default name. A caller may give another,
  // and those seen begin like it.
  if (name.starts_with("RegisterCustomOps")) return "onnxruntime";
  if (is_ggml_entry(name)) return "ggml";
  if (is_tvm_function(name)) return "tvm-ffi";
  // PyInitU_: of a module whose name isn't ASCII.
  if (name.starts_with("PyInit_") || name.starts_with("PyInitU_")) return "python";
  return "";
}

// Imports of registration interfaces other than torch's; empty for others.
std::string_view system_of_import(std::string_view name) {
  if (name.starts_with("TVMFFIFunctionSetGlobal")) return "tvm-ffi";
  // executorch::runtime::register_kernels and register_backend; `torch::executor` in older ones.
  for (const std::string_view space : {"_ZN10executorch", "_ZN5torch8executor"}) {
    if (!name.starts_with(space)) continue;
    if (name.find("16register_kernels") != name.npos) return "executorch";
    if (name.find("16register_backend") != name.npos) return "executorch";
  }
  return "";
}

}  // namespace

std::vector<Registrar> find_registrars(const Elf& elf,
                                       const std::vector<ElfSymbol>& dynamic_symbols) {
  std::vector<Registrar> found = find_torch_registrars(elf, dynamic_symbols);
  for (const ElfSymbol& symbol : dynamic_symbols) {
    Registrar registrar;
    if (symbol.is_export() && symbol.is_function()) {
      registrar.system = system_of_export(symbol.name);
    } else if (!symbol.is_defined()) {
      registrar.system = system_of_import(symbol.name);
      registrar.kind = Registrar::Kind::imports;
    }
    if (registrar.system.empty()) continue;
    if (registrar.system == "ggml") registrar.platform = ggml_backend(symbol.name);
    registrar.symbol = symbol.name;
    registrar.offset = symbol.offset;
    found.push_back(std::move(registrar));
  }
  return found;
}

}  // namespace opseal
