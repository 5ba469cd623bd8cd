#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <string_view>

#include "opseal/registration.h"

namespace opseal {

// What a dtype can carry: only real and complex floating-point numbers carry a tangent.
enum class NumberKind : std::uint8_t { unknown, floating, integer, boolean };

// `float32`, `torch.bfloat16`, `tensor(int64)`, `F16`, `DT_INT32`, `s32`: the spellings of the
// systems that opseal reads. Anything else, block-quantised types included, is unknown.
inline NumberKind number_kind(std::string_view dtype) {
  std::array<char, 32> buffer{};
  // `torch.float32`, `c10::Half`.
  if (const std::size_t end = dtype.find_last_of(".:"); end != dtype.npos) {
    dtype.remove_prefix(end + 1);
  }
  if (dtype.starts_with("tensor(") && dtype.ends_with(")"))
    dtype = dtype.substr(7, dtype.size() - 8);
  for (const std::string_view prefix : {"DT_", "GGML_TYPE_", "kTfLite", "kTF_"}) {
    if (dtype.starts_with(prefix)) dtype.remove_prefix(prefix.size());
  }
  // `kFLOAT`
  if (dtype.size() > 1 && dtype[0] == 'k' && dtype[1] >= 'A' && dtype[1] <= 'Z') {
    dtype.remove_prefix(1);
  }
  if (dtype.empty() || dtype.size() > buffer.size()) return NumberKind::unknown;
  std::transform(dtype.begin(), dtype.end(), buffer.begin(), [](char byte) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(byte)));
  });
  const std::string_view word(buffer.data(), dtype.size());
  const auto begins = [word](std::string_view beginning) { return word.starts_with(beginning); };
  // `f32`, `u8`: a letter or two and then bits.
  const auto sized = [word](std::string_view letters) {
    return word.starts_with(letters) && word.size() > letters.size() &&
           word[letters.size()] >= '1' && word[letters.size()] <= '9';
  };
  if (word == "bool" || word == "boolean" || word == "pred" || word == "i1" || word == "b1") {
    return NumberKind::boolean;
  }
  // The dtype that JAX gives to tangents of integers.
  if (word == "float0") return NumberKind::unknown;
  if (begins("float") || begins("bfloat") || begins("complex") || word == "half" ||
      word == "double" || word == "cfloat" || word == "cdouble" || word == "chalf" || sized("f") ||
      sized("bf") || sized("fp") || sized("tf") || sized("c")) {
    return NumberKind::floating;
  }
  if (begins("int") || begins("uint") || word == "long" || word == "short" || word == "byte" ||
      word == "char" || sized("i") || sized("u") || sized("s")) {
    return NumberKind::integer;
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
