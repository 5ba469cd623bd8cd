#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "opseal/dtypes.h"
#include "opseal/registration.h"
#include "opseal/text.h"

namespace opseal {

// What a dtype can carry: only real and complex floating-point numbers carry a tangent.
enum class NumberKind : std::uint8_t { unknown, floating, integer, boolean };

// Anything that isn't one plain dtype, quantised types included, is unknown.
inline NumberKind number_kind(std::string_view word) {
  const Dtype* dtype = find_dtype(word);
  // `qint8` is an integer with a scale: it stands for a real number, and yet carries no tangent.
  if (dtype == nullptr || dtype->name.starts_with('q')) return NumberKind::unknown;
  switch (dtype->kind) {
    case DtypeKind::boolean:
      return NumberKind::boolean;
    case DtypeKind::signed_integer:
    case DtypeKind::unsigned_integer:
      return NumberKind::integer;
    case DtypeKind::floating:
    case DtypeKind::complex:
      return NumberKind::floating;
    case DtypeKind::block:
    case DtypeKind::opaque:
      break;
  }
  return NumberKind::unknown;
}

// What is said about the dtypes of one operand, over all that it takes or all calls that were
// traced.
struct OperandDtypes {
  bool said = false;
  bool all_floating = true;
  // Integers and truth values only.
  bool none_floating = true;
  // The first of each kind, or not said.
  Fact floating;
  Fact integer;

  void add(const Fact& dtype) {
    const NumberKind kind = number_kind(dtype.text());
    said = true;
    all_floating = all_floating && kind == NumberKind::floating;
    none_floating = none_floating && (kind == NumberKind::integer || kind == NumberKind::boolean);
    if (kind == NumberKind::floating && !floating) floating = dtype;
    if (kind == NumberKind::integer && !integer) integer = dtype;
  }
};

// From a list of dtypes; one that is empty or partly unread says nothing.
inline OperandDtypes dtypes_in(const Fact& list) {
  OperandDtypes dtypes;
  if (!all_read(list)) return dtypes;
  for (const Fact dtype : list.items()) dtypes.add(dtype);
  return dtypes;
}

// Operands are reached by counting from the first, so those beyond this one are not looked at: the
// work for an operator stays bounded whatever its manifest claims.
inline constexpr std::uint32_t most_operands = 1024;

inline Fact item_at(const Fact& list, std::uint64_t index) {
  if (index >= most_operands) return {};
  for (const Fact item : list.items()) {
    if (index-- == 0) return item;
  }
  return {};
}

// "input 1 (`y`)", counted from 0, with the name where the operator says one.
inline std::string input_text(const Fact& op, std::uint32_t index) {
  std::string text = "input " + std::to_string(index);
  const Fact name = item_at(op[Key::inputs], index)[Key::name];
  if (name.is_text()) text += " (" + quote(name.text()) + ")";
  return text;
}

// `dtypes` of the operand, else what its `type` stands for (a type variable or a dtype).
inline OperandDtypes operand_dtypes(const Fact& op, const Fact& operand) {
  if (operand[Key::dtypes].is_list()) return dtypes_in(operand[Key::dtypes]);
  const Fact type = operand[Key::type];
  if (!type.is_text()) return {};
  if (const Fact variable = op[Key::type_constraints].at(type.text()); variable.is_list()) {
    return dtypes_in(variable);
  }
  OperandDtypes dtypes;
  if (number_kind(type.text()) != NumberKind::unknown) dtypes.add(type);
  return dtypes;
}

// `at(signature)` gives the position of the operand in a traced signature.
template <typename At>
OperandDtypes traced_dtypes(const Fact& op, At at) {
  OperandDtypes dtypes;
  for (const Fact signature : op[Key::traced_signatures].items()) {
    const Fact dtype = item_at(signature, at(signature));
    // One call that can't be read leaves open what it was called with.
    if (!dtype.is_text()) return {};
    dtypes.add(dtype);
  }
  return dtypes;
}

inline OperandDtypes input_dtypes(const Fact& op, std::uint32_t index) {
  if (op[Key::inputs].is_list()) {
    OperandDtypes dtypes = operand_dtypes(op, item_at(op[Key::inputs], index));
    if (dtypes.said) return dtypes;
  }
  return traced_dtypes(op, [index](const Fact&) { return std::uint64_t{index}; });
}

inline OperandDtypes output_dtypes(const Fact& op, std::uint32_t index) {
  if (op[Key::outputs].is_list()) {
    OperandDtypes dtypes = operand_dtypes(op, item_at(op[Key::outputs], index));
    if (dtypes.said) return dtypes;
  }
  const Stated<CountRange> inputs = operand_count(op[Key::inputs]);
  if (!inputs || !inputs->exact()) return {};
  const std::uint64_t place = std::uint64_t{inputs->min} + index;
  return traced_dtypes(op, [place](const Fact&) { return place; });
}

}  // namespace opseal
