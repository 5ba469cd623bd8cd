#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "analyzers/python/registrations.h"

namespace opseal {

// Where a function has to come from for a call of it to be a registration. Names alone don't tell:
// many programs have an `impl` or a `define` of their own.
enum class PythonHome : std::uint8_t {
  // The name is nobody else's.
  anywhere,
  // A method by a name that is nobody else's.
  method,
  // `torch.library`.
  torch_library,
  // A method of what `torch.library.Library` made.
  torch_library_object,
  // A method of a custom operator.
  torch_operator_object,
  // Of JAX.
  jax,
  // `jax.interpreters.ad`, or a function imported by this name: not a method of a function.
  jax_ad,
  jax_mlir,
  jax_core,
  triton,
  numba,
  tvm,
};

// One way to call something that registers: a row of the table.
struct PythonCallForm {
  // The last part of the name.
  std::string_view name;
  PythonHome home;
  PythonKind kind;
  // The parameters in order, `KEYWORD:ROLE` or `KEYWORD` for one that is kept as an argument, apart
  // by blanks; behind `|` those that are given by name alone; `*:ROLE` takes all that are left.
  // Roles are `name`, `namespace`, `schema`, `key`, `backend`, `function`, `fake`, `object`,
  // `library`.
  std::string_view parameters;
  // Where the method says it.
  std::string_view key = {};
  std::string_view backend = {};
  // Works as a decorator without being called.
  bool bare = false;
};

// All rows with this name, in the order in which they are tried.
std::span<const PythonCallForm> call_forms(std::string_view name);

// Tables of frameworks to which programs write directly: `primitive_jvps[p] = rule`.
struct PythonTableForm {
  std::string_view name;
  PythonKind kind;
};

const PythonTableForm* table_form(std::string_view name);

}  // namespace opseal
