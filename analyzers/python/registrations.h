#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/python/parsed.h"

namespace opseal {

// What a place in a Python file does to a registry, or asks of one.
enum class PythonKind : std::uint8_t {
  // `Library("ns", "DEF")`: `name_space`, and `key` where a block is for one.
  torch_library,
  // Schema alone: `define`.
  torch_define,
  // Kernel under `key`, which may be absent (every device): `impl`.
  torch_impl,
  // `custom_op`: schema and kernel. Without a `schema`, it is inferred as torch does from the
  // annotations of the function.
  torch_custom_op,
  // The same for `triton_op`.
  torch_triton_op,
  // Shape function: `register_fake`, `impl_abstract`.
  torch_fake,
  // Kernel of a custom operator for the device types in `key`.
  torch_kernel,
  torch_autograd,
  torch_vmap,
  // `direct_register_custom_op` of vLLM and its relatives: schema, kernel and fake at once.
  torch_direct,
  // `torch.ops.ns.name`.
  torch_lookup,
  // An FFI target handed to XLA; `key` is the platform as written.
  ffi_target,
  // `ffi_call("name")`.
  ffi_lookup,
  // A library built and registered at run time: targets are `name.FUNCTION` (brainevent).
  ffi_library,
  // `Primitive("name")`, `XLACustomKernel("name")`, `ETPPrimitive`: `holder` is what it is kept in.
  primitive,
  primitive_impl,
  primitive_abstract,
  // `functions`: one rule for each input, `null` for none. See `how`.
  primitive_jvp,
  primitive_transpose,
  primitive_batching,
  // MLIR lowering; `key` is the platform, absent for all.
  primitive_lowering,
  // A kernel of a brainevent primitive: `key` is the platform, `backend` the backend.
  primitive_kernel,
  // Tags, default backend, benchmark data and the like: `how` says which.
  primitive_remark,
  // A call of the primitive: `positional` inputs.
  primitive_use,
  // Eligibility-trace rules of braintrace, each an argument.
  etp_rules,
  // `custom_vjp`, `custom_jvp` on a function, `name`.
  custom_derivative,
  // `f.defvjp(forward, backward)`, `f.defjvp(rule)`.
  derivative_rules,
  triton_kernel,
  // A function that numba compiles.
  numba_kernel,
  // `overload`, `intrinsic` and the like, by which numba learns of an implementation.
  numba_extension,
  // `register_func`, `register_global_func`.
  tvm_function,
  tvm_object,
  // `get_global_func("name")`.
  tvm_lookup,
  // `onnx_op`: an operator of onnxruntime-extensions that a function of Python computes.
  onnx_function,
};

std::string_view to_text(PythonKind kind);

// An argument or a part of one, as far as the text alone decides it: literals, names that are bound
// once to a constant, what concatenation, f-strings and loops over literals make of them.
struct PythonText {
  enum class State : std::uint8_t {
    // Nothing is said.
    absent,
    // Said, and it depends on what the program does.
    undecided,
    decided,
    // `None`.
    null,
  };

  State state = State::absent;
  // Where decided.
  std::string text;
  // Of the argument; of the whole registration where it follows from other things.
  PythonPlace place;

  bool decided() const { return state == State::decided; }
};

// How many values one `return` hands back, as far as its text alone says.
struct PythonReturn {
  PythonPlace place;
  std::uint32_t values = 0;
  // The same without the `None` at its end.
  std::uint32_t without_nones = 0;
  // The one value is surely no tuple.
  bool bare = false;
  // It is the last parameter as it came, which may be a tuple or not.
  bool handed_on = false;
  // `lib.scale_grad` where it hands back what that hands back; then nobody has counted.
  std::string called;
};

struct PythonParameter {
  std::string name;
  // As written; empty without one.
  std::string annotation;
  // As written; empty without one.
  std::string standard;
  bool keyword_only = false;
};

// A function that is handed over. Its signature is known where it is defined in the same file,
// once.
struct PythonFunction {
  // The parameter it is given as, where there are several: `setup_context`, `dt_to_t`.
  std::string role;
  // `None` stands in its place.
  bool null = false;
  // Its signature is known.
  bool found = false;
  // As written, `lambda` for one; what `functools.partial` wraps, with `bound` arguments.
  std::string name;
  // Positional parameters, and those without a default; `bound` ones are not counted.
  std::uint32_t positional = 0;
  std::uint32_t required = 0;
  // Takes `*args`.
  bool variadic = false;
  // Takes `**kwargs`, or has arguments that a name given once more replaces.
  bool any_name = false;
  std::vector<PythonParameter> parameters;
  std::string returns;
  // Kernels of torch: parameters that choose between shapes, or dtypes, of what it hands back.
  std::vector<std::string> choices;
  // Kernels and shape functions of torch: dimensions of each tensor that they hand back; nothing
  // where the text doesn't tell.
  std::vector<std::optional<std::uint32_t>> ranks;
  // Shape functions of torch: parameters that the body reads, where it is known.
  std::vector<std::string> reads;
  bool reads_known = false;
  // The argument; for a decorated function its name.
  PythonPlace place;
  // Its definition, where found: the line of `def`, or the `lambda`.
  PythonPlace definition;
  // The same as a node of the file's syntax, for those that read the body; else the largest number.
  std::uint32_t node = 0xffffffff;
};

// What an argument holds, all the others being named by the registration.
struct PythonArgument {
  // The parameter's; empty for a positional one that isn't known.
  std::string name;
  // Decided for texts, numbers, truths, and names of things (`state` undecided, text as written).
  PythonText value;
  // Elements of a list, tuple or set of constants, where it is one.
  std::vector<PythonText> items;
  bool list = false;
};

// An argument by name of a call that runs a kernel.
struct PythonCallAttribute {
  std::string name;
  // The dtype, `string`, or `span<int32>` for an array, as XLA gets the value; empty where the text
  // doesn't tell.
  std::string type;
  PythonPlace place;
};

// The call of what the registration makes: `ffi_call("name", …)(x, n=1)`.
struct PythonCall {
  bool made = false;
  // `*args` or `**kwargs`.
  bool open_ended = false;
  std::uint32_t positional = 0;
  std::vector<PythonCallAttribute> attributes;
  PythonPlace place;
};

// How many values a forward keeps for its backward, and how many the backward takes them apart
// into. Empty where not all places that keep some are known, or none is.
struct PythonSavedCounts {
  struct Count {
    std::uint32_t values = 0;
    PythonPlace place;
  };

  std::vector<Count> saved;
  std::vector<Count> taken;

  bool known() const { return !saved.empty() && !taken.empty(); }
};

// How a batching rule uses the axes of its operands, of which each may be `None`.
enum class PythonAxesUse : std::uint8_t {
  // It asks somewhere, hands them on, or nothing is known.
  unknown,
  // Those of several operands, each by its place, without a question.
  several,
  // That of each operand in turn, without a question.
  each,
  // That of one operand, by which others are moved or flattened too.
  first,
};

// Whether the call of a target that a lowering writes fixes the layouts of its operands.
enum class PythonLayouts : std::uint8_t {
  unknown,
  fixed,
  // It leaves them to the compiler.
  open,
};

// Whether a rule hands back sequences for the results of its primitive.
struct PythonSequence {
  enum class Kind : std::uint8_t {
    unknown,
    sequence,
    // One value, which is no sequence.
    one,
  };

  Kind kind = Kind::unknown;
  // What is handed back.
  PythonPlace place;
};

struct PythonRegistration {
  PythonKind kind = PythonKind::torch_library;
  // What was called, by its full name as far as imports tell it: `torch.library.define`.
  std::string how;
  PythonText name_space;
  // Without namespace and overload.
  PythonText name;
  // Operator schema in torch's notation.
  PythonText schema;
  // True if torch would infer it from annotations, and `schema` is what it would be.
  bool schema_inferred = false;
  // Dispatch key, device types (joined by `,`) or platform, as written.
  PythonText key;
  PythonText backend;
  // What it is registered on, as written (`csrmv_p`, `lib`); empty if nothing.
  std::string object;
  // What the result is kept in.
  std::string holder;
  // Of a library that another file makes: its dotted path, `.library.lib`.
  std::string library_path;
  // Kernel, rule or rules.
  std::vector<PythonFunction> functions;
  // `torch_direct`: the shape function. `custom_op`: none.
  PythonFunction fake;
  std::vector<std::string> fake_results;
  // `derivative_rules`: the function that has them.
  PythonFunction of;
  // `torch_autograd`, `derivative_rules`: what the backward, or the one rule, hands back.
  std::vector<PythonReturn> returns;
  // `derivative_rules`: what the forward hands back.
  std::vector<PythonReturn> forward_returns;
  // `defvjp`: what the forward keeps, and what the backward takes it apart into.
  PythonSavedCounts saved;
  // `primitive_batching`.
  PythonAxesUse axes_use = PythonAxesUse::unknown;
  PythonPlace axes_place;
  // It hands back the axes of all operands for those of its results, here.
  PythonPlace axes_returned;
  // `primitive_batching`, and of the first of the functions that tells of `primitive_jvp`.
  PythonSequence sequences;
  // `primitive_lowering`.
  PythonLayouts layouts = PythonLayouts::unknown;
  PythonPlace layouts_place;
  // `primitive`: whether the file says that it has several results; nothing where that may be said
  // elsewhere.
  std::optional<bool> multiple_results;
  // Where it has one result since nothing else is said: names by which another file may say that,
  // which are its own, those of functions that are handed it, and of the class that it is one of.
  std::vector<std::string> results_of;
  // Kernels of torch: parameters of the function whose memory the body writes to, in order.
  std::vector<std::string> writes;
  // Likewise those that it hands back, or a view of them.
  std::vector<std::string> returned_views;
  // Kernels and shape functions: dtypes of the tensors that they hand back.
  std::vector<std::string> results;
  // `primitive_jvp`: for each function, the primitives that it binds with a tangent.
  std::vector<std::vector<std::string>> tangents;
  // The others, in order.
  std::vector<PythonArgument> arguments;
  // `*args` or `**kwargs` in the call: what isn't said may still be there.
  bool open_ended = false;
  // Of a look-up of a target.
  PythonCall call;
  // Of a use: the number of positional arguments.
  std::uint32_t positional = 0;
  // The call or the assignment, and what a report should show of it.
  PythonPlace place;
  // Of the enclosing `if`, `except`, `while` and such, from the outside in, as written, with `not`
  // before the branch that is taken otherwise.
  std::vector<std::string> conditions;
  // The function or class within which it stands, dotted; empty for what an import runs.
  std::string within;
  // Whatever it raises is caught and forgotten: `except Exception: pass`.
  bool swallowed = false;
  // Of a look-up: whoever imports the module asks.
  bool at_import = false;
  // From a loop over literals: one of several registrations at this place.
  bool expanded = false;
};

struct PythonProblem {
  PythonPlace place;
  std::string message;
};

struct PythonRegistrations {
  // Of a file that is read at all; Python sources are far smaller.
  static constexpr std::size_t max_bytes = std::size_t{4} << 20;

  // In the order of the text.
  std::vector<PythonRegistration> registrations;
  // Stretches that could not be parsed: what stands there is not known.
  std::vector<PythonProblem> problems;
};

// Whether a file can hold a registration at all: it has one of the words. Costs a fraction of
// parsing, and most files of a package have none.
bool may_hold_registrations(std::string_view text);

// What a Python file registers and asks for, from its text alone: nothing runs, and no other file
// is looked at. What depends on the run is undecided, never guessed.
PythonRegistrations find_python_registrations(const ParsedPython& file);
// Throws InputError as `PythonSyntax` does.
PythonRegistrations find_python_registrations(std::string_view text);

}  // namespace opseal
