#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opseal {

// What a C++ signature says in torch's own language: `Tensor?` for `const
// std::optional<at::Tensor>&`. Empty for types of which no table here knows it.
struct TorchSignature {
  std::vector<std::string> parameters;
  // As written, names and all.
  std::vector<std::string_view> written;
  // Whether the text says what is returned.
  bool says_results = false;
  // Of a tuple, its members.
  std::vector<std::string> results;
  std::string_view written_result;
};

// Reads `Tensor (const Tensor& x, int64_t n)`. Nothing where the text is no such signature.
std::optional<TorchSignature> read_cpp_signature(std::string_view text);

}  // namespace opseal
