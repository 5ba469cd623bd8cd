#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzers/python/registrations.h"
#include "analyzers/python/scopes.h"
#include "analyzers/python/syntax.h"

namespace opseal {

// What the functions of a `torch.autograd.Function` do with what they get, beside counts of inputs
// and gradients.
struct PythonFunctionFacts {
  struct Named {
    std::string name;
    PythonPlace place;
  };

  // Parameters, with a gradient of their own, whose memory the forward writes to and which it hands
  // back; each at the `return`.
  std::vector<Named> writes;
  // Those that it marks with `ctx.mark_dirty`; nothing where it isn't known which.
  std::optional<std::vector<std::string>> marked;
  // Values that each `return` of the forward hands back, where all write out the same number of
  // them, two or more.
  std::uint32_t results = 0;
  // Saved tensors whose `requires_grad` decides something in the backward.
  std::vector<Named> asked;
  // Those of them that the forward made and doesn't hand back.
  std::vector<std::string> made;

  bool empty() const { return writes.empty() && results == 0 && asked.empty(); }
};

// `separated`: a `setup_context` gets the context, and the forward doesn't. `forward` and
// `backward` are definitions in the class.
PythonFunctionFacts python_function_facts(const PythonSyntax& syntax, const PythonScopes& scopes,
                                          SyntaxIndex definition, SyntaxIndex forward,
                                          SyntaxIndex backward, bool separated);

}  // namespace opseal
