#include "analyzers/python/triton_kinds.h"

#include <algorithm>
#include <array>
#include <set>

#include "analyzers/words.h"

namespace opseal {
namespace {

constexpr std::size_t max_depth = 8;
constexpr std::size_t max_steps = 4'000'000;

// Functions of torch whose result is a tensor, whatever they are given.
bool makes_tensor(std::string_view name) {
  constexpr std::array<std::string_view, 16> words{
      "arange",   "empty", "empty_like", "empty_strided", "full",       "full_like",
      "linspace", "ones",  "rand",       "randn",         "randn_like", "ones_like",
      "randint",  "zeros", "randperm",   "zeros_like"};
  return is_one_of(name, words);
}

// Methods that tensors alone have, and that give one.
bool gives_tensor(std::string_view name) {
  constexpr std::array<std::string_view, 8> words{"contiguous", "new_empty", "new_full",
                                                  "new_ones",   "new_zeros", "unsqueeze",
                                                  "zero_",      "expand_as"};
  return is_one_of(name, words);
}

// Methods of tensors that give a number.
bool gives_number(std::string_view name) {
  constexpr std::array<std::string_view, 5> words{"dim", "element_size", "ndimension", "numel",
                                                  "nelement"};
  return is_one_of(name, words);
}

bool says_pointer(std::string_view name) {
  return name.ends_with("_ptr") || name.ends_with("_Ptr") || name.ends_with("_PTR") ||
         name.ends_with("_pointer") || name.starts_with("ptr_");
}

bool says_stride(std::string_view name) {
  return name.starts_with("stride_") || name.ends_with("_stride");
}

bool is_constant(const PythonParameter& parameter) {
  return parameter.annotation.find("constexpr") != std::string::npos;
}

}  // namespace

std::string_view TritonKinds::base_of(SyntaxIndex call) const {
  const SyntaxIndex function = syntax_.child(call, SyntaxField::function);
  const SyntaxIndex arguments = syntax_.child(call, SyntaxField::arguments);
  if (!syntax_.is(function, SyntaxKind::attribute)) return {};
  if (!syntax_.is(arguments, SyntaxKind::argument_list)) return {};
  const std::string_view name = syntax_.text_of(function);
  const std::string_view last = name.substr(name.rfind('.') + 1);
  if (!name.starts_with("tl.") && !name.starts_with("triton.language.")) return {};
  if (last != "load" && last != "store" && !last.starts_with("atomic_")) return {};
  SyntaxIndex at = syntax_.first(arguments);
  for (std::size_t depth = 0; depth < max_depth * 4 && at != no_syntax; ++depth) {
    at = syntax_.unwrapped(at);
    if (syntax_.is(at, SyntaxKind::identifier)) return syntax_.text_of(at);
    if (!syntax_.is(at, SyntaxKind::binary_operator)) return {};
    const SyntaxIndex sign = syntax_.child(at, SyntaxField::operator_sign);
    if (sign == no_syntax || syntax_.text_of(sign) != "+") return {};
    at = syntax_.child(at, SyntaxField::left);
  }
  return {};
}

std::vector<TritonKind> TritonKinds::of_parameters(const PythonFunction& function,
                                                   SyntaxIndex definition) {
  std::set<std::string_view> bases;
  const SyntaxIndex body = syntax_.child(definition, SyntaxField::body);
  if (body != no_syntax && (steps_ += syntax_[body].next - body) <= max_steps) {
    for (SyntaxIndex index = body; index < syntax_[body].next; ++index) {
      if (syntax_.is(index, SyntaxKind::call)) bases.insert(base_of(index));
    }
  }
  std::vector<TritonKind> kinds;
  for (const PythonParameter& parameter : function.parameters) {
    TritonKind kind = TritonKind::unknown;
    const bool loads = bases.contains(parameter.name);
    if (is_constant(parameter)) {
      kind = loads ? TritonKind::unknown : TritonKind::number;
    } else if (says_pointer(parameter.name)) {
      kind = TritonKind::pointer;
    } else if (says_stride(parameter.name) && !loads) {
      kind = TritonKind::number;
    }
    kinds.push_back(kind);
  }
  return kinds;
}

TritonKind TritonKinds::of(SyntaxIndex expression, std::size_t depth) const {
  const SyntaxIndex value = syntax_.unwrapped(expression);
  if (value == no_syntax || depth == max_depth) return TritonKind::unknown;
  switch (syntax_[value].kind) {
    case SyntaxKind::call:
      return of_call(value, depth);
    case SyntaxKind::subscript: {
      // `x.shape[0]`
      const SyntaxIndex object = syntax_.child(value, SyntaxField::value);
      const SyntaxIndex index = syntax_.child(value, SyntaxField::subscript);
      if (!syntax_.is(object, SyntaxKind::attribute)) return TritonKind::unknown;
      const SyntaxIndex name = syntax_.child(object, SyntaxField::attribute);
      const bool one =
          syntax_.is(index, SyntaxKind::integer) || syntax_.is(index, SyntaxKind::unary_operator);
      return one && name != no_syntax && syntax_.text_of(name) == "shape" ? TritonKind::number
                                                                          : TritonKind::unknown;
    }
    case SyntaxKind::identifier: {
      const PythonBinding* binding = scopes_.only(syntax_.text_of(value), value);
      if (binding == nullptr || binding->kind != PythonBinding::Kind::value) {
        return TritonKind::unknown;
      }
      // Behind `a, b = f()` stands all of it for each.
      const SyntaxIndex target = binding->name;
      if (!syntax_.is(syntax_[target].parent, SyntaxKind::assignment)) return TritonKind::unknown;
      return of(binding->value, depth + 1);
    }
    default:
      return TritonKind::unknown;
  }
}

TritonKind TritonKinds::of_call(SyntaxIndex call, std::size_t depth) const {
  const SyntaxIndex function = syntax_.child(call, SyntaxField::function);
  const SyntaxIndex arguments = syntax_.child(call, SyntaxField::arguments);
  if (function == no_syntax || !syntax_.is(arguments, SyntaxKind::argument_list)) {
    return TritonKind::unknown;
  }
  if (syntax_.is(function, SyntaxKind::identifier)) {
    const std::string_view name = syntax_.text_of(function);
    return name == "len" && scopes_.find(name, function).empty() ? TritonKind::number
                                                                 : TritonKind::unknown;
  }
  if (!syntax_.is(function, SyntaxKind::attribute)) return TritonKind::unknown;
  const std::vector<std::string> names = scopes_.full_names(function);
  if (names.size() == 1 && names[0].starts_with("torch.")) {
    return makes_tensor(std::string_view(names[0]).substr(6)) ? TritonKind::pointer
                                                              : TritonKind::unknown;
  }
  if (names.size() == 1 &&
      (names[0].ends_with("triton.cdiv") || names[0].ends_with("triton.next_power_of_2"))) {
    return TritonKind::number;
  }
  const SyntaxIndex name = syntax_.child(function, SyntaxField::attribute);
  const SyntaxIndex object = syntax_.child(function, SyntaxField::object);
  if (name == no_syntax || object == no_syntax) return TritonKind::unknown;
  const std::string_view method = syntax_.text_of(name);
  // Without an argument these give all of them.
  const bool asks = !syntax_.children(arguments).empty();
  if (((method == "stride" || method == "size") && asks) || gives_number(method)) {
    return TritonKind::number;
  }
  if (gives_tensor(method)) return TritonKind::pointer;
  // `torch.empty(…).to(…)`
  if (method == "to" || method == "view" || method == "reshape") return of(object, depth + 1);
  return TritonKind::unknown;
}

}  // namespace opseal
