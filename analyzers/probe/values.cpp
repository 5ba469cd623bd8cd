#include "analyzers/probe/values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string_view>

namespace opseal {
namespace {

// splitmix64, a public-domain generator: each place's number is worked out by itself.
std::uint64_t mix(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15U;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31);
}

template <typename T>
void put(std::span<unsigned char> bytes, std::size_t element, T value) {
  std::memcpy(bytes.data() + element * sizeof value, &value, sizeof value);
}

template <typename T>
T get(std::span<const unsigned char> bytes, std::size_t element) {
  T value{};
  std::memcpy(&value, bytes.data() + element * sizeof value, sizeof value);
  return value;
}

// Of a number that a half holds exactly and that is no subnormal of it.
std::uint16_t half_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) == 0) return static_cast<std::uint16_t>(bits >> 16);
  const std::uint32_t exponent = (bits >> 23 & 0xFFU) - 127 + 15;
  return static_cast<std::uint16_t>((bits >> 16 & 0x8000U) | exponent << 10 |
                                    (bits >> 13 & 0x3FFU));
}

double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1F;
  const double fraction = bits & 0x3FF;
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 0x1F) return fraction == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

float bfloat_value(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// Never 0, which hides a factor that was lost.
float small_number(std::uint64_t random) {
  const int steps = static_cast<int>(random % 128) + 1;
  return static_cast<float>((random >> 32 & 1) != 0 ? -steps : steps) / 64;
}

}  // namespace

void fill_values(std::span<unsigned char> bytes, const ffi::DtypeInfo& dtype, std::uint64_t seed) {
  if (dtype.bytes == 0) return;
  const std::string_view name = dtype.name;
  const std::size_t elements = bytes.size() / dtype.bytes;
  for (std::size_t at = 0; at < elements; ++at) {
    const std::uint64_t random = mix(seed * 0x10001U + at);
    const auto count = static_cast<std::uint8_t>(random % 8);
    const float number = small_number(random);
    if (name == "PRED") {
      bytes[at] = random & 1;
    } else if (name == "F16") {
      put(bytes, at, half_bits(number));
    } else if (name == "BF16") {
      put(bytes, at, static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(number) >> 16));
    } else if (name == "F32") {
      put(bytes, at, number);
    } else if (name == "F64") {
      put(bytes, at, static_cast<double>(number));
    } else if (name == "C64") {
      put(bytes, 2 * at, number);
      put(bytes, 2 * at + 1, small_number(mix(random)));
    } else if (name == "C128") {
      put(bytes, 2 * at, static_cast<double>(number));
      put(bytes, 2 * at + 1, static_cast<double>(small_number(mix(random))));
    } else if (name.starts_with("F8") || name.starts_with("F4")) {
      // Ordinary positive numbers in all of these formats.
      bytes[at] = name.starts_with("F4") ? count & 7 : static_cast<std::uint8_t>(0x30 + count);
    } else {
      // Little endian, so the low byte comes first.
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at * dtype.bytes), dtype.bytes, 0);
      const bool narrow = name == "S1" || name == "U1" || name == "S2" || name == "U2";
      bytes[at * dtype.bytes] = narrow ? count & 1 : count;
    }
  }
}

bool fill_wild(std::span<unsigned char> bytes, const ffi::DtypeInfo& dtype) {
  const std::string_view name = dtype.name;
  constexpr float scale = 8192;
  const std::size_t elements = dtype.bytes == 0 ? 0 : bytes.size() / dtype.bytes;
  for (std::size_t at = 0; at < elements; ++at) {
    const float number = scale * small_number(mix(at + 77));
    if (name == "F32") {
      put(bytes, at, number);
    } else if (name == "F64") {
      put(bytes, at, static_cast<double>(number));
    } else {
      return false;
    }
  }
  return elements > 0;
}

double unit_number(std::uint64_t seed, std::uint64_t place) {
  return std::ldexp(static_cast<double>(mix(seed * 0x10001U + place) >> 11), -53);
}

void put_integer(std::span<unsigned char> bytes, const ffi::DtypeInfo& dtype, std::size_t element,
                 std::size_t value) {
  const std::string_view word = dtype.word;
  const bool narrow = word.size() == 2 && word != "i8" && word != "u8";
  const bool integer = word.starts_with('i') || word.starts_with('u');
  if (!integer || narrow || value > 127) return;
  // Little endian, so the low byte comes first.
  bytes[element * dtype.bytes] = static_cast<unsigned char>(value);
}

bool put_value(std::span<unsigned char> bytes, const ffi::DtypeInfo& dtype, std::size_t element,
               double value) {
  const std::string_view name = dtype.name;
  if (name == "F32") put(bytes, element, static_cast<float>(value));
  if (name == "F64") put(bytes, element, value);
  return name == "F32" || name == "F64";
}

bool fill_full(std::span<unsigned char> bytes, const ffi::DtypeInfo& dtype, std::uint64_t seed) {
  const std::string_view name = dtype.name;
  const bool is_double = name == "F64" || name == "C128";
  if (!is_double && name != "F32" && name != "C64") return false;
  const std::size_t count = bytes.size() / (is_double ? sizeof(double) : sizeof(float));
  for (std::size_t at = 0; at < count; ++at) {
    const double size = 0.2 + 1.6 * unit_number(seed, 2 * at);
    const double number = unit_number(seed, 2 * at + 1) < 0.5 ? -size : size;
    if (is_double) {
      put(bytes, at, number);
    } else {
      put(bytes, at, static_cast<float>(number));
    }
  }
  return count > 0;
}

int digits_of(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  int exponent = 0;
  const double significand = std::frexp(std::fabs(value), &exponent);
  const auto bits = static_cast<std::uint64_t>(std::ldexp(significand, 53));
  return 53 - std::countr_zero(bits);
}

unsigned parts_of(const ffi::DtypeInfo& dtype) {
  const std::string_view name = dtype.name;
  return name == "C64" || name == "C128" ? 2 : 1;
}

std::optional<double> value_at(std::span<const unsigned char> bytes, const ffi::DtypeInfo& dtype,
                               std::size_t element, unsigned part) {
  const std::string_view name = dtype.name;
  if (name == "F16") return half_value(get<std::uint16_t>(bytes, element));
  if (name == "BF16") return bfloat_value(get<std::uint16_t>(bytes, element));
  if (name == "F32") return get<float>(bytes, element);
  if (name == "F64") return get<double>(bytes, element);
  if (name == "C64") return get<float>(bytes, 2 * element + part);
  if (name == "C128") return get<double>(bytes, 2 * element + part);
  if (name == "PRED" || name == "U8") return get<std::uint8_t>(bytes, element);
  if (name == "S8") return get<std::int8_t>(bytes, element);
  if (name == "S16") return get<std::int16_t>(bytes, element);
  if (name == "U16") return get<std::uint16_t>(bytes, element);
  if (name == "S32") return get<std::int32_t>(bytes, element);
  if (name == "U32") return get<std::uint32_t>(bytes, element);
  // Beyond 2^53 neighbours fall together.
  if (name == "S64") return static_cast<double>(get<std::int64_t>(bytes, element));
  if (name == "U64") return static_cast<double>(get<std::uint64_t>(bytes, element));
  return {};
}

double unit_in_last_place(const ffi::DtypeInfo& dtype, double value) {
  struct Format {
    std::string_view name;
    int digits;
    int least_exponent;
  };
  // Bits of the significand with the hidden one, and the exponent of the smallest normal number.
  constexpr Format formats[] = {{"F16", 11, -14},   {"BF16", 8, -126}, {"F32", 24, -126},
                                {"F64", 53, -1022}, {"C64", 24, -126}, {"C128", 53, -1022}};
  for (const Format& format : formats) {
    if (dtype.name != format.name) continue;
    int exponent = format.least_exponent;
    if (value != 0 && std::isfinite(value)) exponent = std::max(exponent, std::ilogb(value));
    return std::ldexp(1.0, exponent - format.digits + 1);
  }
  return 0;
}

double largest_magnitude(std::span<const unsigned char> bytes, const ffi::DtypeInfo& dtype) {
  double largest = 0;
  const std::size_t elements = dtype.bytes == 0 ? 0 : bytes.size() / dtype.bytes;
  for (std::size_t at = 0; at < elements; ++at) {
    for (unsigned part = 0; part < parts_of(dtype); ++part) {
      const double value = std::fabs(value_at(bytes, dtype, at, part).value_or(0));
      if (std::isfinite(value)) largest = std::max(largest, value);
    }
  }
  return largest;
}

double half_of_the_digits(const ffi::DtypeInfo& dtype) {
  return std::sqrt(unit_in_last_place(dtype, 1));
}

}  // namespace opseal
