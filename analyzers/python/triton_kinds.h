#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "analyzers/python/triton_launches.h"

namespace opseal {

// What parameters of kernels are, and what launches give for them, as far as it is certain.
class TritonKinds {
 public:
  // Needs: the file outlives this.
  explicit TritonKinds(const ParsedPython& file) : syntax_(file.syntax), scopes_(file.scopes) {}

  std::vector<TritonKind> of_parameters(const PythonFunction& function, SyntaxIndex definition);
  TritonKind of_argument(SyntaxIndex expression) const { return of(expression, 0); }

 private:
  TritonKind of(SyntaxIndex expression, std::size_t depth) const;
  TritonKind of_call(SyntaxIndex call, std::size_t depth) const;
  // The parameter from which the address of a load or store starts, or empty.
  std::string_view base_of(SyntaxIndex call) const;

  const PythonSyntax& syntax_;
  const PythonScopes& scopes_;
  // Nodes of bodies: functions may stand within each other.
  std::size_t steps_ = 0;
};

}  // namespace opseal
