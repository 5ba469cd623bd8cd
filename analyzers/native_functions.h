#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace opseal {

// A file of the kinds that PyTorch's code generator reads: `native_functions.yaml` (a list of
// `func:`), `derivatives.yaml` (a list of `name:`) and that of a backend outside of the tree
// (`backend:`, `cpp_namespace:`, `supported:`). Which one it is shows in its content.
struct NativeFunctionsFile {
  // As the manifest names it.
  std::string path;
  std::string text;
};

// Bytes of a file, at most; a longer one is refused.
inline constexpr std::size_t max_native_functions_bytes = std::size_t{4} << 20;

struct NativeFunctionsResult {
  // JSON text of a manifest; empty if a file can't be read.
  std::string manifest;
  // For the user, each `PATH:LINE:COLUMN: TEXT`. Without a manifest the first says why.
  std::vector<std::string> messages;
  // Elements that could not be read: of some the manifest has the name alone, of others nothing.
  std::size_t lost = 0;
};

// What the files declare together: operators with schemas, kernels for each dispatch key (those
// taken from another operator by `structured_delegate` included), operators that the generator adds
// (`autogen`, by name alone), gradients, and kernels of backends. Needs at least one file of
// functions, without which nobody could tell what is declared. Never throws for anything in a file.
NativeFunctionsResult native_functions_manifest(std::span<const NativeFunctionsFile> files,
                                                std::string_view tool_version);

}  // namespace opseal
