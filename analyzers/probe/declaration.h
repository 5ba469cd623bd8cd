#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/probe/ffi_frame.h"
#include "opseal/facts.h"

namespace opseal {

// What a manifest says of the operands of an operator that is to be called.

// An extent that is a number, or the index of a name.
struct Extent {
  std::int64_t number = 0;
  std::optional<std::size_t> name;
};

struct Operand {
  std::string name;
  // Dtypes that it takes; empty: not said.
  std::vector<std::string> dtypes;
  std::vector<Extent> shape;
  bool written = false;
  std::string alias;
  bool optional = false;
  // False: it has no gradient, on purpose.
  bool differentiable = true;
  // Operands of another operator whose derivatives are computed.
  std::string tangent_of;
  std::string cotangent_of;
  // The shape is that of the declaration, in extents that arguments have.
  bool shaped = true;
};

struct Declaration {
  // Arguments, then results.
  std::vector<Operand> operands;
  std::size_t arguments = 0;
  std::vector<std::string> extents;
  std::vector<ffi::Attribute> attributes;
  std::string skipped;
};

// "`x`", "argument 1", "result 0"
std::string name_of(const Operand& operand, std::size_t at, std::size_t arguments);

// Null: XLA has no such dtype.
const ffi::DtypeInfo* ffi_dtype(std::string_view word);

// Each says why no call can be made (`skipped`) where operands aren't stated one by one.
//
// What a handler of XLA's FFI is handed: operands and attributes.
Declaration read_handler_declaration(const Fact& op);
// A C function is handed attributes in ways of its own.
Declaration read_plain_declaration(const Fact& op);
// So does a framework, which makes the results, and knows optional arguments and lists of them.
Declaration read_framework_declaration(const Fact& op);

}  // namespace opseal
