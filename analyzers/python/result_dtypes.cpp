#include "analyzers/python/result_dtypes.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "analyzers/words.h"

namespace opseal {
namespace {

constexpr std::string_view unknown = "?";
constexpr std::size_t max_depth = 6;
constexpr std::size_t most_results = 16;
constexpr SyntaxIndex max_nodes = 100'000;

// What torch's Python calls its dtypes, in opseal's own spelling.
constexpr std::array<std::pair<std::string_view, std::string_view>, 20> dtypes{{
    {"float16", "f16"},
    {"half", "f16"},
    {"bfloat16", "bf16"},
    {"float32", "f32"},
    {"float", "f32"},
    {"float64", "f64"},
    {"double", "f64"},
    {"int8", "i8"},
    {"uint8", "u8"},
    {"int16", "i16"},
    {"short", "i16"},
    {"int32", "i32"},
    {"int", "i32"},
    {"int64", "i64"},
    {"long", "i64"},
    {"bool", "bool"},
    {"float8_e4m3fn", "f8_e4m3fn"},
    {"float8_e5m2", "f8_e5m2"},
    {"uint32", "u32"},
    {"uint64", "u64"},
}};

class DtypeReader {
 public:
  DtypeReader(const PythonSyntax& syntax, const PythonScopes& scopes,
              const PythonFunction& function)
      : syntax_(syntax), scopes_(scopes), function_(function) {}

  std::vector<std::string> run(SyntaxIndex body) {
    read_checks(body);
    std::vector<std::string> results;
    bool first = true;
    for (const SyntaxIndex index : syntax_.own_nodes(body, max_nodes)) {
      if (!syntax_.is(index, SyntaxKind::return_statement)) continue;
      const std::vector<std::string> one = results_of(syntax_.first(index));
      if (!first && one != results) return {};
      results = one;
      first = false;
    }
    for (std::string& result : results) {
      if (checked_.contains(result)) result = unknown;
    }
    return results;
  }

 private:
  // `assert x.dtype == torch.float16`, `x.dtype in (torch.half, HALF)`, `check_dtype(x,
  // torch.half)`: `x` may be of these dtypes alone, and a result that is said to be of one is of
  // that of `x`.
  void read_checks(SyntaxIndex body) {
    for (const SyntaxIndex index : syntax_.own_nodes(body, max_nodes)) {
      if (!syntax_.is(index, SyntaxKind::attribute)) continue;
      const bool of_value = syntax_.text_of(index).ends_with(".dtype");
      const std::string dtype = of_value ? std::string() : of_dtype(index);
      if (!of_value && (dtype.empty() || dtype == unknown)) continue;
      SyntaxIndex above = syntax_[index].parent;
      if (syntax_.is(above, SyntaxKind::tuple) || syntax_.is(above, SyntaxKind::list) ||
          syntax_.is(above, SyntaxKind::set)) {
        above = syntax_[above].parent;
      }
      if (syntax_.is(above, SyntaxKind::argument_list)) {
        read_checking_call(syntax_[above].parent, above, dtype);
      } else if (above != no_syntax && syntax_[above].kind == SyntaxKind::other) {
        if (!of_value) {
          checked_.insert(dtype);
        } else if (const SyntaxIndex object = syntax_.child(index, SyntaxField::object);
                   !compares_two(above) && is_parameter(object)) {
          checked_.insert("$" + std::string(syntax_.text_of(object)));
        }
      }
    }
  }

  void read_checking_call(SyntaxIndex call, SyntaxIndex arguments, const std::string& dtype) {
    const SyntaxIndex called = syntax_.child(call, SyntaxField::function);
    if (dtype.empty() || called == no_syntax) return;
    if (!has_any(syntax_.text_of(called), {"check", "assert", "require", "validate", "expect"}))
      return;
    checked_.insert(dtype);
    if (!seen_.emplace(call, true).second) return;
    for (const SyntaxIndex argument : syntax_.children(arguments)) {
      const bool asked = syntax_.is(argument, SyntaxKind::attribute);
      const SyntaxIndex object = asked ? syntax_.child(argument, SyntaxField::object) : argument;
      if (is_parameter(object)) checked_.insert("$" + std::string(syntax_.text_of(object)));
    }
  }

  // `x.dtype == w.dtype` leaves every dtype.
  bool compares_two(SyntaxIndex comparison) {
    const auto [seen, is_new] = seen_.emplace(comparison, false);
    if (!is_new) return seen->second;
    const std::vector<SyntaxIndex> sides = syntax_.children(comparison);
    seen->second = std::all_of(sides.begin(), sides.end(), [this](SyntaxIndex side) {
      return syntax_[side].field == SyntaxField::operator_sign ||
             syntax_.text_of(side).ends_with(".dtype");
    });
    return seen->second;
  }

  std::vector<std::string> results_of(SyntaxIndex expression) {
    if (expression == no_syntax) return {};
    const SyntaxIndex value = syntax_.unwrapped(expression);
    if (value == no_syntax) return {};
    if (!syntax_.is(value, SyntaxKind::tuple) && !syntax_.is(value, SyntaxKind::expression_list) &&
        !syntax_.is(value, SyntaxKind::list)) {
      return {dtype_of(value, 0)};
    }
    std::vector<std::string> results;
    for (const SyntaxIndex part : syntax_.children(value)) {
      if (results.size() == most_results || syntax_.text_of(part).starts_with('*')) return {};
      results.push_back(dtype_of(part, 0));
    }
    return results;
  }

  bool is_parameter(SyntaxIndex name) const {
    if (!syntax_.is(name, SyntaxKind::identifier)) return false;
    const PythonBinding* binding = scopes_.only(syntax_.text_of(name), name);
    if (binding == nullptr || binding->kind != PythonBinding::Kind::parameter) return false;
    return std::any_of(
        function_.parameters.begin(), function_.parameters.end(),
        [&](const PythonParameter& one) { return one.name == syntax_.text_of(name); });
  }

  std::string of_name(SyntaxIndex name, std::size_t depth) {
    if (is_parameter(name)) return "$" + std::string(syntax_.text_of(name));
    if (!syntax_.is(name, SyntaxKind::identifier)) return std::string(unknown);
    const PythonBinding* binding = scopes_.only(syntax_.text_of(name), name);
    if (binding == nullptr || binding->kind != PythonBinding::Kind::value ||
        !scopes_.within(binding->value, function_.node)) {
      return std::string(unknown);
    }
    return dtype_of(binding->value, depth + 1);
  }

  std::string dtype_of(SyntaxIndex expression, std::size_t depth) {
    const SyntaxIndex value = syntax_.unwrapped(expression);
    if (value == no_syntax || depth > max_depth) return std::string(unknown);
    if (syntax_.is(value, SyntaxKind::identifier)) return of_name(value, depth);
    if (syntax_.is(value, SyntaxKind::subscript)) {
      return of_tensor(syntax_.child(value, SyntaxField::value), depth + 1);
    }
    if (!syntax_.is(value, SyntaxKind::call)) return std::string(unknown);
    const SyntaxIndex called = syntax_.child(value, SyntaxField::function);
    const SyntaxIndex arguments = syntax_.child(value, SyntaxField::arguments);
    if (!syntax_.is(called, SyntaxKind::attribute) ||
        !syntax_.is(arguments, SyntaxKind::argument_list)) {
      return std::string(unknown);
    }
    const SyntaxIndex attribute = syntax_.child(called, SyntaxField::attribute);
    const SyntaxIndex object = syntax_.child(called, SyntaxField::object);
    if (attribute == no_syntax || object == no_syntax) return std::string(unknown);
    const std::string_view name = syntax_.text_of(attribute);
    SyntaxIndex first = no_syntax;
    SyntaxIndex dtype = no_syntax;
    for (const SyntaxIndex argument : syntax_.children(arguments)) {
      if (syntax_.is(argument, SyntaxKind::dictionary_splat)) return std::string(unknown);
      if (!syntax_.is(argument, SyntaxKind::keyword_argument)) {
        if (first == no_syntax) first = argument;
        continue;
      }
      const SyntaxIndex keyword = syntax_.child(argument, SyntaxField::name);
      if (keyword != no_syntax && syntax_.text_of(keyword) == "dtype") {
        dtype = syntax_.child(argument, SyntaxField::value);
      }
    }
    constexpr std::array<std::string_view, 4> makers{"empty", "zeros", "ones", "full"};
    constexpr std::array<std::string_view, 3> likes{"empty_like", "zeros_like", "ones_like"};
    constexpr std::array<std::string_view, 3> news{"new_empty", "new_zeros", "new_ones"};
    const bool of_torch = syntax_.text_of(object) == "torch";
    if (of_torch && is_one_of(name, makers)) {
      return dtype == no_syntax ? std::string(unknown) : of_dtype(dtype);
    }
    if (of_torch && is_one_of(name, likes)) {
      if (dtype != no_syntax) return of_dtype(dtype);
      return first == no_syntax ? std::string(unknown) : of_name(first, depth);
    }
    if (!of_torch && is_one_of(name, news)) {
      return dtype != no_syntax ? of_dtype(dtype) : of_name(syntax_.unwrapped(object), depth);
    }
    return of_torch ? std::string(unknown) : of_method(name, object, first, dtype, depth);
  }

  // Methods of a tensor that keep its dtype, and those that make another.
  std::string of_method(std::string_view name, SyntaxIndex object, SyntaxIndex first,
                        SyntaxIndex dtype, std::size_t depth) {
    constexpr std::array<std::string_view, 16> keep{
        "contiguous", "clone",        "detach", "t",       "transpose", "permute",
        "reshape",    "flatten",      "expand", "squeeze", "narrow",    "unsqueeze",
        "select",     "index_select", "repeat", "flip"};
    constexpr std::array<std::string_view, 8> make{"half", "bfloat16", "float", "double",
                                                   "int",  "long",     "short", "bool"};
    if (is_one_of(name, keep)) return of_tensor(object, depth + 1);
    if (name == "to") {
      const SyntaxIndex asked = dtype != no_syntax ? dtype : first;
      return asked == no_syntax ? std::string(unknown) : of_dtype(asked);
    }
    if (first != no_syntax || dtype != no_syntax || !is_one_of(name, make)) {
      return std::string(unknown);
    }
    for (const auto& [written, known] : dtypes) {
      if (name == written) return std::string(known);
    }
    return std::string(unknown);
  }

  // Of something whose part, or other form, is asked for: of a list of tensors it is no dtype.
  std::string of_tensor(SyntaxIndex expression, std::size_t depth) {
    const SyntaxIndex value = syntax_.unwrapped(expression);
    if (value == no_syntax || depth > max_depth) return std::string(unknown);
    if (!is_parameter(value)) return dtype_of(value, depth);
    for (const PythonParameter& one : function_.parameters) {
      if (one.name != syntax_.text_of(value)) continue;
      const bool tensor = one.annotation == "torch.Tensor" || one.annotation == "Tensor";
      return tensor ? "$" + one.name : std::string(unknown);
    }
    return std::string(unknown);
  }

  // `torch.float16`, `x.dtype`.
  std::string of_dtype(SyntaxIndex expression) const {
    const SyntaxIndex value = syntax_.unwrapped(expression);
    if (!syntax_.is(value, SyntaxKind::attribute)) return std::string(unknown);
    const SyntaxIndex object = syntax_.child(value, SyntaxField::object);
    const SyntaxIndex attribute = syntax_.child(value, SyntaxField::attribute);
    if (object == no_syntax || attribute == no_syntax) return std::string(unknown);
    const std::string_view name = syntax_.text_of(attribute);
    if (name == "dtype" && is_parameter(object)) return "$" + std::string(syntax_.text_of(object));
    if (syntax_.text_of(object) != "torch") return std::string(unknown);
    for (const auto& [written, dtype] : dtypes) {
      if (name == written) return std::string(dtype);
    }
    return std::string(unknown);
  }

  const PythonSyntax& syntax_;
  const PythonScopes& scopes_;
  const PythonFunction& function_;
  // As results say them: `$x`, `f16`.
  std::set<std::string> checked_;
  // Comparisons, and whether they hold dtypes of values alone; calls that were looked at.
  std::map<SyntaxIndex, bool> seen_;
};

}  // namespace

std::vector<std::string> python_result_dtypes(const PythonSyntax& syntax,
                                              const PythonScopes& scopes,
                                              const PythonFunction& function) {
  if (!function.found || function.node == no_syntax) return {};
  const SyntaxIndex body = syntax.child(function.node, SyntaxField::body);
  if (!syntax.is(body, SyntaxKind::block)) return {};
  return DtypeReader(syntax, scopes, function).run(body);
}

}  // namespace opseal
