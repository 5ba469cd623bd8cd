// What a KernelDefBuilder restricts:
//   .TypeConstraint("T", DataTypeImpl::GetTensorType<float>())
//   .TypeConstraint("T", BuildKernelDefConstraints<float, double>())
//   .TypeConstraint("T", {DataTypeImpl::GetTensorType<float>(), …}), with or without the type of
//   the vector before the brace. Functions of a provider that return such a list are not followed.

#include <algorithm>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/onnx.h"

namespace opseal {
namespace {

// Element types of onnxruntime in C++, and as ONNX writes them.
constexpr std::pair<std::string_view, std::string_view> element_types[] = {
    {"BFloat16", "bfloat16"},
    {"Float8E4M3FN", "float8e4m3fn"},
    {"Float8E4M3FNUZ", "float8e4m3fnuz"},
    {"Float8E5M2", "float8e5m2"},
    {"Float8E5M2FNUZ", "float8e5m2fnuz"},
    {"Int4x2", "int4"},
    {"MLFloat16", "float16"},
    {"UInt4x2", "uint4"},
    {"bool", "bool"},
    {"double", "double"},
    {"float", "float"},
    {"int16_t", "int16"},
    {"int32_t", "int32"},
    {"int64_t", "int64"},
    {"int8_t", "int8"},
    {"string", "string"},
    {"uint16_t", "uint16"},
    {"uint32_t", "uint32"},
    {"uint64_t", "uint64"},
    {"uint8_t", "uint8"},
};

bool add_type(Tokens tokens, std::vector<std::string>& types) {
  // `std::string`, `onnxruntime::MLFloat16`.
  while (tokens.size() > 2 && tokens[0].is_identifier() && tokens[1].is("::")) {
    tokens = tokens.subspan(2);
  }
  if (tokens.size() != 1) return false;
  for (const auto& [cpp, onnx] : element_types) {
    if (tokens[0].is(cpp)) {
      types.push_back("tensor(" + std::string(onnx) + ")");
      return true;
    }
  }
  return false;
}

// `GetTensorType<T>()`, `BuildKernelDefConstraints<T…>()`.
bool add_call(Tokens tokens, std::vector<std::string>& types) {
  while (tokens.size() > 2 && tokens[0].is_identifier() && tokens[1].is("::")) {
    tokens = tokens.subspan(2);
  }
  const bool one = !tokens.empty() && tokens[0].is("GetTensorType");
  if (tokens.size() < 5 || (!one && !tokens[0].is("BuildKernelDefConstraints"))) return false;
  if (!tokens[1].is('<')) return false;
  const std::size_t end = tokens.size() - 3;
  if (!tokens[end].is('>') || !tokens[end + 1].is('(') || !tokens[end + 2].is(')')) return false;
  const std::vector<Tokens> list = split_typed(tokens.subspan(2, end - 2));
  if (one && list.size() != 1) return false;
  return std::all_of(list.begin(), list.end(), [&](Tokens type) { return add_type(type, types); });
}

bool read_types(Tokens tokens, std::vector<std::string>& types) {
  const auto brace =
      std::find_if(tokens.begin(), tokens.end(), [](const Token& token) { return token.is('{'); });
  if (brace == tokens.end()) return add_call(tokens, types);
  const auto open = static_cast<std::size_t>(brace - tokens.begin());
  if (open > 0 && !tokens[0].is("std") && !tokens[0].is("vector")) return false;
  if (closing_bracket(tokens, open) + 1 != tokens.size()) return false;
  const std::vector<Tokens> list = split_typed(tokens.subspan(open + 1, tokens.size() - open - 2));
  return !list.empty() && std::all_of(list.begin(), list.end(), [&](Tokens item) {
    return item.empty() || add_call(item, types);
  });
}

}  // namespace

bool read_onnx_constraints(Tokens builder, OnnxRecord& record) {
  const bool built = std::any_of(builder.begin(), builder.end(),
                                 [](const Token& token) { return token.is("KernelDefBuilder"); });
  if (!built) return false;
  for (const ChainLink& link : read_chain(builder)) {
    if (link.name != "TypeConstraint") continue;
    const std::vector<Tokens> arguments = split_typed(link.arguments);
    if (arguments.size() < 2) return false;
    bool only_strings = false;
    const std::string variable = string_value(arguments[0], &only_strings);
    std::vector<std::string> types;
    if (!only_strings || !read_types(arguments[1], types)) return false;
    std::sort(types.begin(), types.end());
    types.erase(std::unique(types.begin(), types.end()), types.end());
    record.constraints.emplace_back(variable, std::move(types));
  }
  return true;
}

}  // namespace opseal
