#include "analyzers/probe/declaration.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <utility>

#include "opseal/ascii.h"
#include "opseal/dtypes.h"
#include "opseal/registration.h"
#include "opseal/text.h"

namespace opseal {
namespace {

constexpr std::size_t most_operands = 64;

bool is_identifier(std::string_view text) {
  return !text.empty() && !is_digit(text.front()) &&
         std::all_of(text.begin(), text.end(), [](unsigned char letter) {
           return letter == '_' || std::isalnum(letter) != 0;
         });
}

class DeclarationReader {
 public:
  // What a handler of XLA's FFI is handed.
  Declaration read(const Fact& op) {
    read_sides(op);
    for (const Fact attribute : op[Key::attributes].items()) read_attribute(attribute);
    return std::move(declaration_);
  }

  // A C function is handed attributes in ways of its own.
  Declaration read_plain(const Fact& op) {
    read_sides(op);
    return std::move(declaration_);
  }

  // So does a framework, which makes the results, and knows optional arguments and lists of them.
  Declaration read_framework(const Fact& op) {
    in_framework_ = true;
    read_operands(op[Key::inputs], "inputs");
    declaration_.arguments = declaration_.operands.size();
    const std::size_t extents = declaration_.extents.size();
    if (op[Key::outputs].is_list() && all_read(op[Key::outputs])) {
      reads_results_ = true;
      read_operands(op[Key::outputs], "outputs");
    }
    for (std::size_t at = declaration_.arguments; at < declaration_.operands.size(); ++at) {
      Operand& result = declaration_.operands[at];
      for (const Extent& extent : result.shape) {
        result.shaped = result.shaped && (!extent.name || *extent.name < extents);
      }
      if (!result.shaped) result.shape.clear();
    }
    // Extents that results alone have choose nothing.
    declaration_.extents.resize(extents);
    return std::move(declaration_);
  }

 private:
  void read_sides(const Fact& op) {
    read_operands(op[Key::inputs], "inputs");
    declaration_.arguments = declaration_.operands.size();
    read_operands(op[Key::outputs], "outputs");
  }

  void skip(std::string why) {
    if (declaration_.skipped.empty()) declaration_.skipped = std::move(why);
  }

  void read_operands(const Fact& operands, const char* what) {
    if (!operands.is_list() || !all_read(operands)) {
      skip(std::string("the operator doesn't state its ") + what +
           " one by one, with their shapes");
      return;
    }
    for (const Fact fact : operands.items()) {
      if (declaration_.operands.size() == most_operands) skip("it has too many operands");
      if (!declaration_.skipped.empty()) return;
      Operand operand;
      operand.name = fact[Key::name].text();
      operand.dtypes = texts_of(fact[Key::dtypes]);
      operand.written = fact[Key::mutated].truth();
      operand.alias = fact[Key::alias].text();
      operand.differentiable = fact[Key::differentiable].truth(true);
      operand.tangent_of = fact[Key::tangent_of].text();
      operand.cotangent_of = fact[Key::cotangent_of].text();
      const std::string shown =
          name_of(operand, declaration_.operands.size(), declaration_.operands.size() + 1);
      // A framework makes results itself.
      const bool is_result = in_framework_ && reads_results_;
      const bool many = fact[Key::variadic].truth();
      operand.optional = in_framework_ && fact[Key::optional].truth();
      if (is_result ? many : !in_framework_ && (many || fact[Key::optional].truth())) {
        skip(shown + " is optional, or stands for any number of operands");
      }
      if (fact[Key::strides].is_list()) skip(shown + " has strides of its own, which are not made");
      const Fact shape = fact[Key::shape];
      if (!shape.is_list() && !is_result) skip("no shape is stated for " + shown);
      operand.shaped = shape.is_list();
      for (const Fact extent : shape.items()) {
        if (extent.is_count()) {
          operand.shape.push_back({extent.count(), {}});
        } else if (extent.is_text()) {
          if (!is_identifier(extent.text())) {
            operand.shaped = false;
            if (is_result) continue;
            skip("extent " + quote(extent.text()) + " of " + shown +
                 " is no name, and opseal works nothing out");
          }
          operand.shape.push_back({0, index_of(extent.text())});
        } else {
          operand.shaped = false;
          if (!is_result) skip("an extent of " + shown + " is not stated");
        }
      }
      if (many) declaration_.operands.push_back(operand);
      declaration_.operands.push_back(std::move(operand));
    }
  }

  std::size_t index_of(std::string_view name) {
    std::vector<std::string>& names = declaration_.extents;
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    names.emplace_back(name);
    return names.size() - 1;
  }

  template <typename T>
  static std::string bytes_of(T value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
  }

  // `bytes` of the number, or nothing where the type doesn't hold it.
  static std::optional<std::string> number_bytes(std::string_view word, std::uint32_t size,
                                                 double number) {
    if (word == "f32") return bytes_of(static_cast<float>(number));
    if (word == "f64") return bytes_of(number);
    const bool known = word == "bool" || word == "i8" || word == "i16" || word == "i32" ||
                       word == "i64" || word == "u8" || word == "u16" || word == "u32" ||
                       word == "u64";
    // Beyond 2^53 a manifest's numbers are no whole numbers any more.
    constexpr double most = 9007199254740992.0;
    const bool is_signed = word.front() == 'i';
    const double top = std::ldexp(1.0, static_cast<int>(8 * size) - (is_signed ? 1 : 0));
    if (!known || number != std::floor(number) || std::fabs(number) >= most) return {};
    if (number >= (word == "bool" ? 2.0 : top) || number < (is_signed ? -top : 0.0)) return {};
    // Little endian: the low bytes come first.
    return bytes_of(static_cast<std::int64_t>(number)).substr(0, size);
  }

  void read_attribute(const Fact& fact) {
    const Fact value = fact[Key::value];
    const std::string name(fact[Key::name].text());
    const std::string_view type = fact[Key::type].text();
    const std::string shown =
        "attribute " + quote(name) + (type.empty() ? std::string() : " of type " + quote(type));
    if (!value.said()) {
      skip(shown + " has no `value` to call with");
      return;
    }
    ffi::Attribute attribute;
    attribute.name = name;
    if (value.is_text()) {
      if (!type.empty() && type != "string") {
        skip(shown + " has a text as its `value`, and its type is not `string`");
        return;
      }
      attribute.type = ffi::string_attribute;
      attribute.bytes = value.text();
      declaration_.attributes.push_back(std::move(attribute));
      return;
    }
    const ffi::DtypeInfo* dtype =
        value.is_truth() && type.empty() ? ffi_dtype("bool") : ffi_dtype(type);
    if (dtype == nullptr) {
      skip(shown +
           " has no type by which its `value` is handed over: `float32`, `int64`, `bool`, "
           "`string` and their like; of a list that of its numbers");
      return;
    }
    const auto add = [&](const Fact& one) {
      const double number = one.is_truth() ? static_cast<double>(one.truth()) : one.number();
      const std::optional<std::string> bytes = number_bytes(dtype->word, dtype->bytes, number);
      if (bytes) attribute.bytes += *bytes;
      return bytes.has_value();
    };
    bool fits = true;
    if (value.is_list()) {
      attribute.type = ffi::array_attribute;
      attribute.elements = value.size();
      for (const Fact one : value.items()) fits = fits && add(one);
    } else {
      fits = add(value);
    }
    if (!fits) {
      skip(shown + " has a `value` that its type doesn't hold");
      return;
    }
    attribute.dtype = dtype->number;
    declaration_.attributes.push_back(std::move(attribute));
  }

  bool in_framework_ = false;
  bool reads_results_ = false;
  Declaration declaration_;
};

}  // namespace

std::string name_of(const Operand& operand, std::size_t at, std::size_t arguments) {
  if (!operand.name.empty()) return quote(operand.name);
  return at < arguments ? "argument " + std::to_string(at)
                        : "result " + std::to_string(at - arguments);
}

const ffi::DtypeInfo* ffi_dtype(std::string_view word) {
  const Dtype* dtype = find_dtype(word);
  if (dtype == nullptr) return nullptr;
  for (const ffi::DtypeInfo& info : ffi::dtypes) {
    if (dtype->name == info.word) return &info;
  }
  return nullptr;
}

Declaration read_handler_declaration(const Fact& op) { return DeclarationReader().read(op); }

Declaration read_plain_declaration(const Fact& op) { return DeclarationReader().read_plain(op); }

Declaration read_framework_declaration(const Fact& op) {
  return DeclarationReader().read_framework(op);
}

}  // namespace opseal
