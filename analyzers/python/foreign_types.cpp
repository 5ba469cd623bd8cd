#include "analyzers/python/foreign_types.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

namespace opseal {
namespace {

constexpr std::size_t most_depth = 8;
constexpr std::size_t most_types = 256;

struct TypeWord {
  std::string_view name;
  std::string_view word;
};
// Integers that are as wide as a pointer are taken for 64 bits.
constexpr TypeWord type_words[] = {
    {"c_bool", "bool"},       {"c_byte", "i8"},         {"c_char", "i8"},
    {"c_char_p", "pointer"},  {"c_double", "f64"},      {"c_float", "f32"},
    {"c_int", "i32"},         {"c_int16", "i16"},       {"c_int32", "i32"},
    {"c_int64", "i64"},       {"c_int8", "i8"},         {"c_long", "long"},
    {"c_longlong", "i64"},    {"c_short", "i16"},       {"c_size_t", "u64"},
    {"c_ssize_t", "i64"},     {"c_ubyte", "u8"},        {"c_uint", "u32"},
    {"c_uint16", "u16"},      {"c_uint32", "u32"},      {"c_uint64", "u64"},
    {"c_uint8", "u8"},        {"c_ulong", "long"},      {"c_ulonglong", "u64"},
    {"c_ushort", "u16"},      {"c_void_p", "pointer"},  {"c_voidp", "pointer"},
    {"c_wchar_p", "pointer"}, {"py_object", "pointer"},
};

std::string_view word_of(std::string_view name) {
  if (!name.starts_with("ctypes.")) return {};
  name.remove_prefix(7);
  const auto* found = std::find_if(std::begin(type_words), std::end(type_words),
                                   [name](const TypeWord& one) { return one.name == name; });
  return found == std::end(type_words) ? std::string_view() : found->word;
}

const std::string unknown = "?";

std::string pointer_to(const std::string& type) {
  return type == unknown || type.starts_with("pointer") ? "pointer" : "pointer:" + type;
}

}  // namespace

SyntaxIndex ForeignTypes::first_argument(SyntaxIndex call) const {
  const SyntaxIndex list = syntax_.child(call, SyntaxField::arguments);
  if (!syntax_.is(list, SyntaxKind::argument_list)) return no_syntax;
  return syntax_.first(list);
}

std::string ForeignTypes::of(SyntaxIndex expression, std::size_t depth) const {
  if (expression == no_syntax || depth > most_depth) return unknown;
  expression = syntax_.unwrapped(expression);
  if (syntax_.is(expression, SyntaxKind::call)) return of_call(expression, depth);
  if (syntax_.is(expression, SyntaxKind::binary_operator)) {
    // `c_int * 3`: an array, which is handed over as a pointer.
    const SyntaxIndex sign = syntax_.child(expression, SyntaxField::operator_sign);
    const SyntaxIndex left = syntax_.child(expression, SyntaxField::left);
    if (sign == no_syntax || left == no_syntax || syntax_.text_of(sign) != "*") return unknown;
    const std::string item = of(left, depth + 1);
    return item == unknown ? unknown : pointer_to(item);
  }
  if (syntax_.is(expression, SyntaxKind::identifier)) {
    const PythonBinding* binding = scopes_.only(syntax_.text_of(expression), expression);
    if (binding != nullptr && binding->kind == PythonBinding::Kind::value) {
      return of(binding->value, depth + 1);
    }
  }
  const std::vector<std::string> names = scopes_.full_names(expression);
  if (names.size() != 1) return unknown;
  const std::string_view word = word_of(names.front());
  return word.empty() ? unknown : std::string(word);
}

std::string ForeignTypes::of_call(SyntaxIndex call, std::size_t depth) const {
  const SyntaxIndex function = syntax_.child(call, SyntaxField::function);
  if (function == no_syntax) return unknown;
  for (const std::string& name : scopes_.full_names(function)) {
    if (name == "ctypes.POINTER") return pointer_to(of(first_argument(call), depth + 1));
    if (name == "ctypes.CFUNCTYPE" || name == "ctypes.PYFUNCTYPE") return "pointer";
    if (name == "numpy.ctypeslib.ndpointer") return "pointer";
  }
  return unknown;
}

ForeignTypes::Words ForeignTypes::of_list(SyntaxIndex expression) const {
  Words words = of_list(expression, 0);
  if (words && words->size() > most_types) return {};
  return words;
}

ForeignTypes::Words ForeignTypes::of_list(SyntaxIndex expression, std::size_t depth) const {
  if (expression == no_syntax || depth > most_depth) return {};
  expression = syntax_.unwrapped(expression);
  if (syntax_.is(expression, SyntaxKind::list) || syntax_.is(expression, SyntaxKind::tuple)) {
    std::vector<std::string> words;
    for (const SyntaxIndex item : syntax_.children(expression)) {
      const SyntaxKind kind = syntax_[item].kind;
      if (kind == SyntaxKind::list_splat || kind == SyntaxKind::error) return {};
      if (words.size() > most_types) return {};
      words.push_back(of(item, 0));
    }
    return words;
  }
  if (syntax_.is(expression, SyntaxKind::binary_operator)) return of_sum(expression, depth);
  if (syntax_.is(expression, SyntaxKind::identifier)) {
    const PythonBinding* binding = scopes_.only(syntax_.text_of(expression), expression);
    if (binding == nullptr || binding->kind != PythonBinding::Kind::value) return {};
    return of_list(binding->value, depth + 1);
  }
  return {};
}

ForeignTypes::Words ForeignTypes::of_sum(SyntaxIndex expression, std::size_t depth) const {
  const SyntaxIndex sign = syntax_.child(expression, SyntaxField::operator_sign);
  const SyntaxIndex left = syntax_.child(expression, SyntaxField::left);
  const SyntaxIndex right = syntax_.child(expression, SyntaxField::right);
  if (sign == no_syntax || left == no_syntax || right == no_syntax) return {};
  Words words = of_list(left, depth + 1);
  if (!words) return {};
  if (syntax_.text_of(sign) == "+") {
    const Words more = of_list(right, depth + 1);
    if (!more || words->size() + more->size() > most_types) return {};
    words->insert(words->end(), more->begin(), more->end());
    return words;
  }
  if (syntax_.text_of(sign) != "*" || !syntax_.is(right, SyntaxKind::integer)) return {};
  const std::string_view text = syntax_.text_of(right);
  std::size_t times = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), times);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  if (times > most_types || words->size() * times > most_types) return {};
  std::vector<std::string> repeated;
  for (std::size_t at = 0; at < times; ++at) {
    repeated.insert(repeated.end(), words->begin(), words->end());
  }
  return repeated;
}

std::string ForeignTypes::of_argument(SyntaxIndex expression) const {
  expression = syntax_.unwrapped(expression);
  if (syntax_.is(expression, SyntaxKind::none)) return "pointer";
  if (syntax_.is(expression, SyntaxKind::attribute)) {
    // NumPy's and CuPy's.
    const std::string_view text = syntax_.text_of(expression);
    return text.ends_with(".ctypes.data") || text.ends_with(".data.ptr") ? "address" : unknown;
  }
  if (!syntax_.is(expression, SyntaxKind::call)) return unknown;
  const SyntaxIndex function = syntax_.child(expression, SyntaxField::function);
  if (function == no_syntax) return unknown;
  if (syntax_.is(function, SyntaxKind::attribute)) {
    const SyntaxIndex method = syntax_.child(function, SyntaxField::attribute);
    if (method != no_syntax && syntax_.text_of(method) == "data_ptr") return "address";
  }
  for (const std::string& name : scopes_.full_names(function)) {
    if (name == "ctypes.byref" || name == "ctypes.pointer") return "pointer";
    if (const std::string_view word = word_of(name); !word.empty()) return std::string(word);
  }
  return unknown;
}

}  // namespace opseal
