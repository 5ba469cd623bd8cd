#pragma once

#include <string_view>

#include "rules/library_groups.h"

namespace opseal {

// Calls `visit(library, registrar)` for each mark of a torch registration in a group.
template <typename Visit>
void for_each_torch_registrar(const LibraryGroup& group, Visit visit) {
  for (const PlacedLibrary& one : group) {
    for (const Fact registrar : one.content[Key::registrars].items()) {
      if (registrar[Key::system].is("torch")) visit(one, registrar);
    }
  }
}

// Namespaces that torch itself defines, so that anybody may register kernels in them.
inline bool is_torch_namespace(std::string_view space) {
  for (const std::string_view known : {"aten",
                                       "prim",
                                       "prims",
                                       "prepacked",
                                       "quantized",
                                       "_quantized",
                                       "sparse",
                                       "static_runtime",
                                       "inductor",
                                       "mkldnn",
                                       "mkl",
                                       "nested",
                                       "profiler",
                                       "c10d",
                                       "_c10d_functional",
                                       "_c10d_functional_autograd",
                                       "symm_mem",
                                       "onednn",
                                       "xnnpack",
                                       "vulkan",
                                       "cuda",
                                       "rngprims",
                                       "debugprims",
                                       "higher_order",
                                       "_test",
                                       "_C",
                                       "torch",
                                       "torchvision",
                                       "torchaudio",
                                       "fbgemm",
                                       "metal",
                                       "mps",
                                       "rand",
                                       "streams",
                                       "export",
                                       "triton",
                                       "_inductor_test",
                                       "dynamo",
                                       "linalg",
                                       "_caffe2",
                                       "caffe2",
                                       "_"}) {
    if (space == known) return true;
  }
  return false;
}

}  // namespace opseal
