#include "analyzers/probe/derivative_operands.h"

#include <algorithm>
#include <cstddef>

#include "opseal/text.h"

namespace opseal {
namespace {

bool is_same_value(const Fact& one, const Fact& other) {
  if (!one.is_list() || !other.is_list()) {
    return one.is_list() == other.is_list() && one.text() == other.text() &&
           one.number() == other.number() && one.truth() == other.truth();
  }
  std::vector<Fact> values;
  for (const Fact value : one.items()) values.push_back(value);
  std::size_t at = 0;
  for (const Fact value : other.items()) {
    if (at == values.size() || !is_same_value(values[at++], value)) return false;
  }
  return at == values.size();
}

}  // namespace

bool computes_derivatives(const Fact& op) {
  if (op[Key::derivative_of].is_text()) return true;
  for (const Key side : {Key::inputs, Key::outputs}) {
    for (const Fact operand : op[side].items()) {
      if (operand[Key::tangent_of].is_text() || operand[Key::cotangent_of].is_text()) return true;
    }
  }
  return false;
}

bool is_forward(const Fact& op) {
  for (const Key side : {Key::outputs, Key::inputs}) {
    for (const Fact operand : op[side].items()) {
      if (operand[Key::tangent_of].is_text()) return true;
      if (operand[Key::cotangent_of].is_text()) return false;
    }
  }
  return false;
}

std::string handed_results_reason(std::string_view function) {
  return quote(function) + ", its operator, is itself handed results of another one";
}

std::vector<CallOutput> outputs_of(const Declaration& declaration) {
  std::vector<CallOutput> outputs;
  const auto begin = declaration.operands.begin();
  const auto results = begin + static_cast<std::ptrdiff_t>(declaration.arguments);
  for (std::size_t at = declaration.arguments; at < declaration.operands.size(); ++at) {
    outputs.push_back({false, at - declaration.arguments});
  }
  for (std::size_t at = 0; at < declaration.arguments; ++at) {
    const Operand& operand = declaration.operands[at];
    // A result with its memory is what it becomes.
    const bool shared = !operand.alias.empty() &&
                        std::any_of(results, declaration.operands.end(),
                                    [&](const Operand& one) { return one.alias == operand.alias; });
    if (operand.written && !shared) outputs.push_back({true, at});
  }
  return outputs;
}

std::size_t place_of(const Declaration& declaration, const CallOutput& output) {
  return output.argument ? output.number : declaration.arguments + output.number;
}

std::optional<std::size_t> find_argument(const Declaration& declaration, std::string_view name) {
  for (std::size_t at = 0; at < declaration.arguments; ++at) {
    if (declaration.operands[at].name == name) return at;
  }
  return {};
}

std::optional<std::size_t> find_output(const Declaration& declaration,
                                       const std::vector<CallOutput>& outputs,
                                       std::string_view name) {
  for (std::size_t at = 0; at < outputs.size(); ++at) {
    if (declaration.operands[place_of(declaration, outputs[at])].name == name) return at;
  }
  return {};
}

DerivativeOperand find_value(const Declaration& declaration, const std::vector<CallOutput>& outputs,
                             std::string_view name, bool forward) {
  using Role = DerivativeOperand::Role;
  if (name.empty()) return {};
  const auto input = find_argument(declaration, name);
  const auto output = find_output(declaration, outputs, name);
  if (!input) return output ? DerivativeOperand{Role::value, true, *output} : DerivativeOperand{};
  const Operand& operand = declaration.operands[*input];
  if (forward || !operand.written) return {Role::value, false, *input};
  for (std::size_t at = 0; at < outputs.size(); ++at) {
    const Operand& left = declaration.operands[place_of(declaration, outputs[at])];
    const bool shares = !operand.alias.empty() && left.alias == operand.alias;
    const bool itself = outputs[at].argument && outputs[at].number == *input;
    if (shares || itself) return {Role::value, true, at};
  }
  return {Role::value, false, *input};
}

std::string other_attribute(const Fact& one, const Fact& other) {
  for (const Fact attribute : one[Key::attributes].items()) {
    for (const Fact twin : other[Key::attributes].items()) {
      if (twin[Key::name].text() != attribute[Key::name].text()) continue;
      if (!is_same_value(attribute[Key::value], twin[Key::value])) {
        return quote(attribute[Key::name].text());
      }
    }
  }
  return {};
}

bool bind_extents(const std::vector<Extent>& shape, const std::vector<std::int64_t>& dims,
                  BoundExtents& bound) {
  if (shape.size() != dims.size()) return false;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (!shape[axis].name) {
      if (shape[axis].number != dims[axis]) return false;
      continue;
    }
    std::optional<std::int64_t>& extent = bound[*shape[axis].name];
    if (extent.value_or(dims[axis]) != dims[axis]) return false;
    extent = dims[axis];
  }
  return true;
}

const std::string& bytes_of(const ffi::Answer& answer, const CallOutput& output) {
  static const std::string none;
  const std::vector<std::string>& side = output.argument ? answer.arguments : answer.results;
  return output.number < side.size() ? side[output.number] : none;
}

}  // namespace opseal
