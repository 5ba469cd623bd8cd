#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/python/function_facts.h"
#include "analyzers/python/gradient_guards.h"
#include "analyzers/python/registrations.h"
#include "analyzers/python/saved_values.h"

namespace opseal {

// A class derived from `torch.autograd.Function`, with its forward, and its backward or what it is
// exported to ONNX by.
struct PythonAutograd {
  std::string name;
  PythonPlace place;
  // Without the context, which comes first in forwards that have no `setup_context` beside them.
  PythonFunction forward;
  // No function is found where there is none.
  PythonFunction backward;
  // Called with a graph and all that the forward is given.
  PythonFunction symbolic;
  // Every one that the text tells, in order.
  std::vector<PythonReturn> returns;
  // The context is a function's of its own: `setup_context`.
  bool separated = false;
  // Its rule for `vmap`, or where it asks for one to be made.
  std::string batching;
  PythonPlace batching_place;
  std::vector<PythonGradientGuard> guards;
  PythonFunctionFacts facts;
  PythonSavedCounts saved;
};

// A gradient that is registered with TensorFlow: `@tf.RegisterGradient("Op")` on a function, or
// `NotDifferentiable("Op")`.
struct PythonGradient {
  std::string name;
  // Said to have none.
  bool none = false;
  // Whoever imports the file registers it, whatever the machine and the versions are.
  bool always = false;
  PythonPlace place;
  std::string function;
  PythonPlace function_place;
  // Every one that the text tells, in order.
  std::vector<PythonReturn> returns;
};

// Whether a file can hold such a class at all. Costs a fraction of parsing.
bool may_hold_autograd(std::string_view text);

// The classes whose forward and backward are written in them, once each.
std::vector<PythonAutograd> find_python_autograd(const ParsedPython& file);

bool may_hold_gradients(std::string_view text);
// Those whose operator is a text that is written out.
std::vector<PythonGradient> find_python_gradients(const ParsedPython& file);

}  // namespace opseal
