// c10/core/ScalarType.h and ATen/Dispatch.h.

#include "analyzers/sources/scalar_types.h"

#include <algorithm>

#include "opseal/ascii.h"

namespace opseal {
namespace {

struct ScalarType {
  std::string_view enumerator;
  std::string_view dtype;
};

// Those behind the first blank line are constants (`kFloat16`) that no enumerator has.
constexpr ScalarType scalar_types[] = {
    {"Byte", "u8"},
    {"Char", "i8"},
    {"Short", "i16"},
    {"Int", "i32"},
    {"Long", "i64"},
    {"UInt16", "u16"},
    {"UInt32", "u32"},
    {"UInt64", "u64"},
    {"Half", "f16"},
    {"Float", "f32"},
    {"Double", "f64"},
    {"ComplexHalf", "c32"},
    {"ComplexFloat", "c64"},
    {"ComplexDouble", "c128"},
    {"Bool", "bool"},
    {"BFloat16", "bf16"},
    {"QInt8", "qint8"},
    {"QUInt8", "quint8"},
    {"QInt32", "qint32"},
    {"QUInt4x2", "quint4x2"},
    {"QUInt2x4", "quint2x4"},
    {"Float8_e5m2", "f8_e5m2"},
    {"Float8_e4m3fn", "f8_e4m3fn"},
    {"Float8_e5m2fnuz", "f8_e5m2fnuz"},
    {"Float8_e4m3fnuz", "f8_e4m3fnuz"},
    {"Float8_e8m0fnu", "f8_e8m0fnu"},

    {"UInt8", "u8"},
    {"Int8", "i8"},
    {"Int16", "i16"},
    {"Int32", "i32"},
    {"Int64", "i64"},
    {"Float16", "f16"},
    {"Float32", "f32"},
    {"Float64", "f64"},
};

struct Group {
  std::string_view name;
  std::vector<std::string_view> dtypes;
};

// Longer names first where one begins with the other.
const std::vector<Group>& groups() {
  static const std::vector<Group> all{
      {"FLOATING_AND_COMPLEX_TYPES", {"f32", "f64", "c64", "c128"}},
      {"FLOATING_TYPES_AND_HALF", {"f16", "f32", "f64"}},
      {"FLOATING_TYPES", {"f32", "f64"}},
      {"REDUCED_FLOATING_TYPES", {"bf16", "f16"}},
      {"COMPLEX_TYPES", {"c64", "c128"}},
      {"INTEGRAL_TYPES", {"i16", "i32", "i64", "i8", "u8"}},
      {"ALL_TYPES_AND_COMPLEX", {"c128", "c64", "f32", "f64", "i16", "i32", "i64", "i8", "u8"}},
      {"ALL_TYPES", {"f32", "f64", "i16", "i32", "i64", "i8", "u8"}},
      {"INDEX_TYPES", {"i32", "i64"}},
      {"QINT_TYPES", {"qint8", "quint8", "qint32"}},
      {"FLOAT8_TYPES", {"f8_e4m3fn", "f8_e4m3fnuz", "f8_e5m2", "f8_e5m2fnuz"}},
  };
  return all;
}

}  // namespace

std::string_view dtype_of_enumerator(std::string_view name) {
  const auto found =
      std::find_if(std::begin(scalar_types), std::end(scalar_types),
                   [name](const ScalarType& type) { return type.enumerator == name; });
  return found == std::end(scalar_types) ? std::string_view() : found->dtype;
}

std::string_view scalar_type_of(Tokens tokens) {
  if (tokens.empty() || tokens.size() > 9) return {};
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    if (!tokens[at].is_identifier() && !tokens[at].is("::")) return {};
  }
  std::string_view name = tokens.back().text;
  const bool qualified = tokens.size() >= 3 && tokens[tokens.size() - 3].is("ScalarType");
  if (!qualified) {
    // `kHalf`: no other constant of that form is a dtype.
    if (name.size() < 2 || name[0] != 'k') return {};
    name.remove_prefix(1);
  }
  return dtype_of_enumerator(name);
}

std::optional<DispatchGroup> dispatch_group(std::string_view name) {
  for (const Group& group : groups()) {
    if (!name.starts_with(group.name)) continue;
    DispatchGroup out{group.dtypes, 0};
    std::string_view rest = name.substr(group.name.size());
    if (rest.starts_with("_AND_HALF")) {
      out.dtypes.push_back("f16");
      rest.remove_prefix(9);
    }
    if (rest.empty()) return out;
    if (!rest.starts_with("_AND")) return {};
    rest.remove_prefix(4);
    // `_AND` takes one, `_AND3` three.
    out.further = rest.empty() ? 1 : 0;
    for (const char digit : rest) {
      if (digit < '0' || digit > '9' || out.further > 9) return {};
      out.further = out.further * 10 + static_cast<std::size_t>(digit - '0');
    }
    return out;
  }
  return {};
}

}  // namespace opseal
