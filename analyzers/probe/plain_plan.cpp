#include "analyzers/probe/plain_plan.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <utility>

#include "analyzers/probe/element_places.h"
#include "opseal/dtypes.h"
#include "opseal/registration.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// C's own words for numbers, as this machine has them.
struct CWord {
  std::string_view word;
  std::string_view dtype;
};
constexpr CWord c_words[] = {
    {"char", "i8"},       {"signed char", "i8"},    {"unsigned char", "u8"}, {"short", "i16"},
    {"int", "i32"},       {"unsigned", "u32"},      {"unsigned int", "u32"}, {"long", "i64"},
    {"long long", "i64"}, {"unsigned long", "u64"}, {"size_t", "u64"},       {"ssize_t", "i64"},
    {"ptrdiff_t", "i64"}, {"intptr_t", "i64"},      {"uintptr_t", "u64"},    {"float", "f32"},
    {"double", "f64"},
};
static_assert(sizeof(long) == 8 && sizeof(std::size_t) == 8);

// 0: no number that can be handed over by value.
std::int32_t scalar_dtype(std::string_view word) {
  for (const CWord& one : c_words) {
    if (one.word == word) word = one.dtype;
  }
  if (word.ends_with("_t")) word.remove_suffix(2);
  const Dtype* dtype = find_dtype(word);
  if (dtype == nullptr) return 0;
  for (const char* name :
       {"bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64"}) {
    if (dtype->name != name) continue;
    for (const ffi::DtypeInfo& info : ffi::dtypes) {
      if (name == std::string_view(info.word)) return info.number;
    }
  }
  return 0;
}

std::string_view word_of(std::int32_t dtype) {
  const ffi::DtypeInfo* info = ffi::find_dtype_number(dtype);
  return info == nullptr ? "" : info->word;
}

bool is_floating(std::int32_t dtype) { return word_of(dtype).starts_with('f'); }

bool is_whole(std::int32_t dtype) {
  return dtype != 0 && !is_floating(dtype) && word_of(dtype) != "bool";
}

struct Range {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

Range range_of(std::int32_t dtype) {
  const std::string_view word = word_of(dtype);
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  if (word == "bool") return {0, 1};
  const unsigned bits = 8 * ffi::find_dtype_number(dtype)->bytes;
  if (word.starts_with('u')) return {0, bits == 64 ? most : (std::int64_t{1} << bits) - 1};
  const std::int64_t largest = bits == 64 ? most : (std::int64_t{1} << (bits - 1)) - 1;
  return {-largest - 1, largest};
}

template <typename T>
std::string bytes_of(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

// Empty: it doesn't fit.
std::string whole_bytes(std::int64_t value, std::int32_t dtype) {
  if (word_of(dtype) == "f32") return bytes_of(static_cast<float>(value));
  if (word_of(dtype) == "f64") return bytes_of(static_cast<double>(value));
  const Range range = range_of(dtype);
  if (value < range.least || value > range.most) return {};
  // Little endian: the low bytes come first.
  return bytes_of(value).substr(0, ffi::find_dtype_number(dtype)->bytes);
}

std::string real_bytes(double value, std::int32_t dtype) {
  if (word_of(dtype) == "f32") return bytes_of(static_cast<float>(value));
  if (word_of(dtype) == "f64") return bytes_of(value);
  if (!(value >= -9e18 && value <= 9e18)) return {};
  const auto whole = static_cast<std::int64_t>(value);
  return static_cast<double>(whole) == value ? whole_bytes(whole, dtype) : std::string();
}

template <typename T>
std::optional<T> number_in(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

std::optional<std::size_t> place_of(const std::vector<std::string>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end() || name.empty()) return {};
  return static_cast<std::size_t>(found - names.begin());
}

const ffi::QuestionOperand& operand_of(const ffi::Question& question, std::size_t number) {
  const std::size_t arguments = question.arguments.size();
  return number < arguments ? question.arguments[number] : question.results[number - arguments];
}

std::int64_t elements_of(const ffi::QuestionOperand& operand) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : operand.dims) elements *= extent;
  return elements;
}

// No two elements lie in one place, and none between two of another axis.
bool is_apart(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& strides) {
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    if (extents[axis] > 1) axes.emplace_back(std::abs(strides[axis]), extents[axis]);
  }
  std::sort(axes.begin(), axes.end());
  std::int64_t reach = 0;
  for (const auto& [stride, extent] : axes) {
    if (stride <= reach) return false;
    reach += stride * (extent - 1);
  }
  return true;
}

}  // namespace

PlainPlan::PlainPlan(const Fact& op, const Fact& kernel, std::vector<std::string> operands,
                     std::vector<std::string> extents)
    : op_(op), operands_(std::move(operands)), extents_(std::move(extents)) {
  if (!all_read(kernel[Key::arguments])) {
    skipped_ = "not all of its `arguments` can be read";
    return;
  }
  for (const std::string& text : texts_of(kernel[Key::arguments])) read(text);
  const std::vector<std::string> results = texts_of(kernel[Key::results]);
  if (results.size() > 1) skipped_ = "a C function has one result, and `results` states more";
  if (results.size() != 1 || results[0] == "void") return;
  returned_ = place_of(operands_, results[0]);
  if (returned_) {
    read_returned(results[0]);
    return;
  }
  status_ = scalar_dtype(results[0]);
  if (!is_whole(status_)) skip(results[0], "as a result is no whole number, and so no status");
}

void PlainPlan::read_returned(std::string_view name) {
  if (*returned_ < op_[Key::inputs].size()) return skip(name, "is returned and is no result");
  std::size_t at = op_[Key::inputs].size();
  for (const Fact output : op_[Key::outputs].items()) {
    if (at++ != *returned_) continue;
    if (output[Key::shape].size() > 0) skip(name, "is returned and has axes");
    for (const std::string& dtype : texts_of(output[Key::dtypes])) {
      if (scalar_dtype(dtype) == 0) skip(dtype, "is no dtype that a function returns by value");
    }
  }
}

void PlainPlan::skip(std::string_view text, std::string_view why) {
  if (skipped_.empty()) skipped_ = quote(text) + " " + std::string(why);
}

void PlainPlan::read(std::string_view text) {
  Argument argument;
  if (text == "null") {
    arguments_.push_back(argument);
    return;
  }
  if (const auto operand = place_of(operands_, text)) {
    argument.plain.kind = ffi::PlainArgument::Kind::data;
    argument.plain.operand = static_cast<std::uint32_t>(*operand);
    arguments_.push_back(std::move(argument));
    return;
  }
  const std::string_view bound = text.ends_with(">=0") ? ">=0" : text.ends_with(">0") ? ">0" : "";
  const std::string_view body = text.substr(0, text.size() - bound.size());
  const std::size_t colon = body.rfind(':');
  const std::string_view head = body.substr(0, colon);
  std::int32_t dtype = 0;
  if (colon != body.npos) {
    dtype = scalar_dtype(body.substr(colon + 1));
    if (dtype == 0) return skip(text, "among its `arguments` has a type of which no value is made");
  }
  argument.plain.kind = ffi::PlainArgument::Kind::value;
  argument.plain.dtype = dtype;
  bool known = false;
  const auto extent = place_of(extents_, head);
  const std::optional<double> number = number_in<double>(head);
  if (extent && dtype != 0) {
    argument.number = Argument::Number::extent;
    argument.extent = *extent;
    known = true;
  } else if (number && dtype != 0) {
    argument.plain.bytes = real_bytes(*number, dtype);
    known = !argument.plain.bytes.empty();
  } else if (head.starts_with("attr.") && dtype != 0) {
    known = read_attribute(head.substr(5), dtype, argument);
  } else if (const std::size_t dot = head.rfind('.'); dot != head.npos) {
    if (const auto operand = place_of(operands_, head.substr(0, dot))) {
      argument.plain.operand = static_cast<std::uint32_t>(*operand);
      known = read_property(head.substr(dot + 1), dtype, bound, argument);
    }
  }
  if (!known) {
    for (const Fact attribute : op_[Key::attributes].items()) {
      if (!attribute[Key::name].is(head)) continue;
      return skip(text, "among its `arguments` names an attribute, which is written " +
                            quote("attr." + std::string(text)) + ", with a type of numbers");
    }
    return skip(text,
                "among its `arguments` is no operand, extent, attribute with a value, or what can "
                "be said of one of them");
  }
  arguments_.push_back(std::move(argument));
}

bool PlainPlan::read_attribute(std::string_view name, std::int32_t dtype, Argument& argument) {
  for (const Fact attribute : op_[Key::attributes].items()) {
    if (!attribute[Key::name].is(name)) continue;
    const Fact value = attribute[Key::value];
    if (value.is_truth()) {
      argument.plain.bytes = whole_bytes(value.truth() ? 1 : 0, dtype);
    } else if (value.is_number()) {
      double number = value.number();
      // As the operator's attribute holds it, whatever this kernel takes.
      if (word_of(scalar_dtype(attribute[Key::type].text())) == "f32") {
        number = static_cast<float>(number);
      }
      argument.plain.bytes = real_bytes(number, dtype);
    }
    return !argument.plain.bytes.empty();
  }
  return false;
}

bool PlainPlan::read_property(std::string_view word, std::int32_t dtype, std::string_view bound,
                              Argument& argument) {
  using Kind = ffi::PlainArgument::Kind;
  using Number = Argument::Number;
  std::optional<std::uint32_t> axis;
  if (word.ends_with(']')) {
    const std::size_t bracket = word.find('[');
    if (bracket == word.npos) return false;
    axis = number_in<std::uint32_t>(word.substr(bracket + 1, word.size() - bracket - 2));
    if (!axis) return false;
    word = word.substr(0, bracket);
  }
  argument.plain.axis = axis.value_or(0);
  argument.plain.in_bytes = word == "byte_strides";
  const std::int32_t whole = dtype == 0 ? scalar_dtype("i64") : dtype;
  if (word == "strides" || word == "byte_strides") {
    if ((axis && dtype == 0) || !is_whole(whole)) return false;
    argument.plain.kind = axis ? Kind::stride : Kind::strides;
    argument.plain.dtype = whole;
    const std::int64_t least = bound == ">0" ? 1 : bound == ">=0" ? 0 : range_of(whole).least;
    tell(argument.plain, least, !axis);
    return true;
  }
  if (!bound.empty()) return false;
  if (word == "shape" && !axis) {
    argument.plain.kind = Kind::shape;
    argument.plain.dtype = whole;
    return is_whole(whole);
  }
  if (dtype == 0 || (axis && word != "shape")) return false;
  argument.number = word == "shape"   ? Number::axis
                    : word == "rank"  ? Number::rank
                    : word == "size"  ? Number::size
                    : word == "bytes" ? Number::bytes
                                      : Number::none;
  return argument.number != Number::none;
}

void PlainPlan::tell(const ffi::PlainArgument& argument, std::int64_t least, bool every_axis) {
  const std::int64_t axis = every_axis ? -1 : static_cast<std::int64_t>(argument.axis);
  told_[{argument.operand, axis}].push_back(
      {least, range_of(argument.dtype).most, argument.in_bytes});
}

std::optional<ffi::PlainInterface> PlainPlan::bind(const ffi::Question& question,
                                                   const std::vector<std::int64_t>& sizes) const {
  using Number = Argument::Number;
  ffi::PlainInterface plain;
  plain.status = status_;
  if (returned_) {
    plain.returned = static_cast<std::int32_t>(*returned_ - question.arguments.size());
  }
  for (const Argument& argument : arguments_) {
    plain.arguments.push_back(argument.plain);
    const bool of_operand = argument.plain.kind != ffi::PlainArgument::Kind::null &&
                            (argument.number != Number::none ||
                             argument.plain.kind != ffi::PlainArgument::Kind::value) &&
                            argument.number != Number::extent;
    std::int64_t number = 0;
    if (argument.number == Number::extent) number = sizes[argument.extent];
    if (of_operand) {
      const ffi::QuestionOperand& operand = operand_of(question, argument.plain.operand);
      const std::size_t rank = operand.dims.size();
      const bool has_axis = argument.number == Number::axis ||
                            argument.plain.kind == ffi::PlainArgument::Kind::stride;
      if (has_axis && argument.plain.axis >= rank) return {};
      if (argument.number == Number::axis) number = operand.dims[argument.plain.axis];
      if (argument.number == Number::rank) number = static_cast<std::int64_t>(rank);
      if (argument.number == Number::size) number = elements_of(operand);
      if (argument.number == Number::bytes) {
        number = elements_of(operand) * ffi::find_dtype_number(operand.dtype)->bytes;
      }
    }
    if (argument.number == Number::none) continue;
    plain.arguments.back().bytes = whole_bytes(number, argument.plain.dtype);
    if (plain.arguments.back().bytes.empty()) return {};
  }
  return plain;
}

bool PlainPlan::is_told(std::size_t operand, std::size_t axis) const {
  return told_.contains({operand, -1}) ||
         told_.contains({operand, static_cast<std::int64_t>(axis)});
}

bool PlainPlan::takes(const ffi::QuestionOperand& operand, std::size_t number,
                      const std::vector<std::int64_t>& strides) const {
  for (std::size_t axis = 0; axis < strides.size(); ++axis) {
    for (const std::int64_t key : {std::int64_t{-1}, static_cast<std::int64_t>(axis)}) {
      const auto found = told_.find({number, key});
      if (found == told_.end()) continue;
      for (const Told& told : found->second) {
        const std::int64_t factor =
            told.in_bytes ? ffi::find_dtype_number(operand.dtype)->bytes : 1;
        const std::int64_t stride = strides[axis] * factor;
        if (stride < told.least || stride > told.most) return false;
      }
    }
  }
  return true;
}

std::vector<PlannedView> PlainPlan::views(const ffi::Question& question) const {
  std::vector<PlannedView> views;
  for (std::size_t number = 0; number < operands_.size(); ++number) {
    const ffi::QuestionOperand& operand = operand_of(question, number);
    const bool read_only = number < question.arguments.size() && !operand.written;
    bool shared = operand.shares >= 0;
    for (const ffi::QuestionOperand& result : question.results) {
      shared = shared || result.shares == static_cast<std::int32_t>(number);
    }
    std::vector<std::size_t> axes;
    bool every = true;
    for (std::size_t axis = 0; axis < operand.dims.size(); ++axis) {
      if (operand.dims[axis] < 2) continue;
      every = every && is_told(number, axis);
      if (is_told(number, axis)) axes.push_back(axis);
    }
    if (shared || axes.empty() || elements_of(operand) == 0) continue;
    const std::vector<std::int64_t> dense = ffi::dense_strides(operand.dims);
    const auto add = [&](const char* name, std::vector<std::int64_t> strides, bool apart) {
      if (!takes(operand, number, strides)) return;
      if (apart && !is_apart(operand.dims, strides)) return;
      views.push_back({operands_[number] + '=' + name, number, std::move(strides)});
    };
    if (every && axes.size() > 1) {
      std::vector<std::int64_t> strides(dense.size(), 1);
      for (std::size_t axis = 1; axis < dense.size(); ++axis) {
        strides[axis] = strides[axis - 1] * operand.dims[axis - 1];
      }
      add("permuted", std::move(strides), true);
    }
    std::vector<std::int64_t> gapped = dense;
    std::vector<std::int64_t> reversed = dense;
    for (const std::size_t axis : axes) {
      gapped[axis] *= 2;
      reversed[axis] = -reversed[axis];
    }
    add("gapped", std::move(gapped), true);
    add("reversed", std::move(reversed), true);
    if (!read_only) continue;
    std::vector<std::int64_t> broadcast = dense;
    broadcast[axes.front()] = 0;
    add("broadcast", std::move(broadcast), false);
  }
  return views;
}

}  // namespace opseal
