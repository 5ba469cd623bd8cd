#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analyzers/sources/code_functions.h"

namespace opseal {

// Which parameters of the functions of one file are written through: `out[i] = x`, `x.copy_(y)`,
// `at::add_out(out, …)`, `kernel<<<…>>>(out.data_ptr<float>())` where that kernel writes. What
// isn't understood writes nothing.
class WrittenParameters {
 public:
  explicit WrittenParameters(const CodeFunctions& code) : code_(code) {}

  // By parameter, the token that first writes.
  using Written = std::vector<std::optional<std::uint32_t>>;
  const Written& of(const CodeFunction& function);

 private:
  friend class WriteScan;

  const CodeFunctions& code_;
  std::unordered_map<const CodeFunction*, Written> known_;
  unsigned depth_ = 0;
  // Tokens that were looked at, those of callees among them.
  std::uint64_t steps_ = 0;
};

}  // namespace opseal
