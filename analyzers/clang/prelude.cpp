#include "analyzers/clang/prelude.h"

#include "analyzers/clang/compile_flags.h"
#include "analyzers/clang/cuda_toolkit.h"

namespace opseal {
const std::string& clang_prelude(std::string_view path) {
  static const std::string plain =
      std::string(clang_standard_prelude) + std::string(clang_framework_prelude);
  static const std::string cuda = plain + std::string(clang_cuda_prelude);
  return is_cuda_path(path) ? cuda : plain;
}

}  // namespace opseal
