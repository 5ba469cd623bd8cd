#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opseal/facts.h"

namespace opseal {

// What an operator's own schema text says (`schema` in a manifest). Every view is a part of that
// text and lives as long as it does.

// One argument or result. Types are taken apart: `Tensor(a!)[]? xs` has the type `Tensor`, the
// alias `a!` and the name `xs`, is a list, and optional.
struct SchemaOperand {
  // Without lists, question marks and alias marks; generic types keep their parameters
  // (`Dict(str, Tensor)`). Empty where the text leaves it open.
  std::string_view type;
  // Empty where it has none, as in every schema of tvm-ffi so far.
  std::string_view name;
  // What stands in the parentheses of the alias mark: `a`, `a!`, `b|a`, `a -> *`; of the short form
  // `Tensor! x` its `!`.
  std::string_view alias;
  // All that stands behind the type in torch's language, as written: `(a!)[]?`.
  std::string_view marks;
  // Behind the `=`, quotation marks and all.
  std::string_view default_value;
  // Lists around the type: 2 for `Tensor[][]`.
  std::uint32_t lists = 0;
  bool optional = false;
  bool has_default = false;
  bool keyword_only = false;

  bool is_tensor() const { return type == "Tensor" || type == "ffi.Tensor" || type == "DLTensor*"; }
  // Marked as written to. A schema that marks nothing may still say nothing: see
  // `OperatorSchema::says_mutation`.
  bool mutated() const { return alias.find('!') != alias.npos; }
};

// The type as torch's language has it, without the alias mark: `Tensor?[]`, which differs from
// `Tensor[]?`.
std::string torch_type_text(const SchemaOperand& operand);

struct OperatorSchema {
  // As written, namespace and overload included: `aten::add.out`. Empty where the text has none.
  std::string_view name;
  std::vector<SchemaOperand> inputs;
  std::vector<SchemaOperand> outputs;
  // `...`: any number more than those listed.
  bool more_inputs = false;
  bool more_outputs = false;
  // False where no alias mark can be expected: the schema was inferred from a C++ signature (its
  // arguments are called `_0`, `_1`), or the language has no such marks (tvm-ffi).
  bool says_mutation = true;
};

// torch's language, which ExecuTorch shares: `ns::name.overload(Tensor(a!) x, int n=1) -> Tensor`.
// Nothing where the text is no such schema.
std::optional<OperatorSchema> read_torch_schema(std::string_view text);

// tvm-ffi's `type_schema`, JSON. Nothing where the text gives no parameters (`{"type":
// "ffi.Function"}` alone).
std::optional<OperatorSchema> read_tvm_schema(std::string_view text);

// Either, told apart by the first byte; nothing where `schema` is no text.
std::optional<OperatorSchema> read_schema(const Fact& schema);

}  // namespace opseal
