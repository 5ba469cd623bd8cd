#include "rules/kernel_dtypes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "opseal/ascii.h"
#include "opseal/text.h"
#include "rules/mangled_names.h"

namespace opseal {
namespace {

bool is_upper(char byte) { return byte >= 'A' && byte <= 'Z'; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

struct Builtin {
  std::string_view word;
  std::string_view dtype;
};

// C++'s own types on the systems where CUDA runs on 64 bits. The longer words first.
constexpr std::array<Builtin, 15> builtins = {{{"unsigned long long", "u64"},
                                               {"unsigned short", "u16"},
                                               {"unsigned char", "u8"},
                                               {"unsigned long", "u64"},
                                               {"unsigned int", "u32"},
                                               {"signed char", "i8"},
                                               {"long long", "i64"},
                                               {"double", "f64"},
                                               {"float", "f32"},
                                               {"short", "i16"},
                                               {"long", "i64"},
                                               {"char", "i8"},
                                               {"int", "i32"},
                                               {"bool", "bool"},
                                               {"unsigned", "u32"}}};

// CUDA's vectors, whose names read like narrow dtypes: `int4` is four ints.
constexpr std::array<Builtin, 12> vectors = {{{"uchar", "u8"},
                                              {"char", "i8"},
                                              {"ushort", "u16"},
                                              {"short", "i16"},
                                              {"ulonglong", "u64"},
                                              {"longlong", "i64"},
                                              {"ulong", "u64"},
                                              {"long", "i64"},
                                              {"uint", "u32"},
                                              {"int", "i32"},
                                              {"float", "f32"},
                                              {"double", "f64"}}};

const Dtype* scalar(std::string_view word) {
  const Dtype* dtype = find_dtype(word);
  return dtype == nullptr || dtype->kind == DtypeKind::opaque ? nullptr : dtype;
}

const Dtype* vector_element(std::string_view word) {
  if (word.size() < 2 || word.back() < '1' || word.back() > '4') return nullptr;
  word.remove_suffix(1);
  for (const Builtin& vector : vectors) {
    if (word == vector.word) return scalar(vector.dtype);
  }
  // `__half2`, `__nv_bfloat162`.
  const bool half = word == "half" || word == "__half";
  if (half) return scalar("f16");
  const bool bfloat = word.ends_with("bfloat16") && word.starts_with("__nv");
  return bfloat ? scalar("bf16") : nullptr;
}

const Dtype* builtin(std::string_view word) {
  for (const Builtin& known : builtins) {
    if (word == known.word) return scalar(known.dtype);
  }
  return nullptr;
}

// What tensor cores make of f32: tensors of it hold f32.
bool is_tensor_float(std::string_view word) {
  return word == "tfloat32_t" || word == "tfloat32" || word == "tf32";
}

// One identifier. Dtype or nullptr.
const Dtype* dtype_of_identifier(std::string_view word) {
  if (const Dtype* dtype = builtin(word)) return dtype;
  if (is_tensor_float(word)) return scalar("f32");
  if (const Dtype* dtype = vector_element(word)) return dtype;
  // Whole words of one or two letters are names, and `int4` was a vector.
  if (word.size() < 3) return nullptr;
  const Dtype* dtype = scalar(word);
  if (dtype == nullptr) return nullptr;
  const bool is_integer =
      dtype->kind == DtypeKind::signed_integer || dtype->kind == DtypeKind::unsigned_integer;
  return is_integer && dtype->bits != 0 && dtype->bits < 8 ? nullptr : dtype;
}

// The whole text of a type, without what makes it a pointer; nullptr for what is no dtype.
const Dtype* dtype_of_type(std::string_view text) {
  text = trim(text);
  while (text.ends_with('*') || text.ends_with('&') || text.ends_with(" const")) {
    text.remove_suffix(text.ends_with('t') ? 6 : 1);
    text = trim(text);
  }
  if (const Dtype* dtype = builtin(text)) return dtype;
  if (text.find_first_of("<(") != text.npos) {
    const std::size_t open = text.find('<');
    const bool is_complex =
        open != text.npos && text.ends_with('>') && text.substr(0, open).ends_with("complex");
    if (!is_complex) return nullptr;
    const Dtype* part = dtype_of_type(text.substr(open + 1, text.size() - open - 2));
    if (part == nullptr || part->kind != DtypeKind::floating) return nullptr;
    return part->bits == 64 ? scalar("c128") : part->bits == 32 ? scalar("c64") : scalar("c32");
  }
  const std::size_t colons = text.rfind("::");
  if (colons != text.npos) text.remove_prefix(colons + 2);
  return dtype_of_identifier(text);
}

// A template argument that is a value: `4`, `-1`, `true`, `(Mode)2`, `&f`.
bool is_value(std::string_view argument) {
  return argument.empty() || is_digit(argument[0]) || argument[0] == '-' || argument[0] == '(' ||
         argument[0] == '&' || argument == "true" || argument == "false";
}

// Splits at commas outside of all brackets.
std::vector<std::string_view> split(std::string_view list) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t at = 0; at < list.size(); ++at) {
    const char byte = list[at];
    if (byte == '<' || byte == '(' || byte == '[' || byte == '{') ++depth;
    if (byte == '>' || byte == ')' || byte == ']' || byte == '}') --depth;
    if (byte != ',' || depth != 0) continue;
    parts.push_back(trim(list.substr(start, at - start)));
    start = at + 1;
  }
  const std::string_view last = trim(list.substr(start));
  if (!last.empty()) parts.push_back(last);
  return parts;
}

// Where the bracket opens that the last byte closes; npos where none does.
std::size_t opening(std::string_view text, char open, char close) {
  int depth = 0;
  for (std::size_t at = text.size(); at-- > 0;) {
    if (text[at] == close) ++depth;
    if (text[at] == open && --depth == 0) return at;
  }
  return std::string_view::npos;
}

class Reader {
 public:
  KernelDtypes read(std::string_view mangled) {
    const std::string text = demangled_name(mangled);
    if (text.empty()) {
      // A name in C says what it says in words, or nothing.
      if (!mangled.starts_with("_Z")) {
        types_within(mangled);
        words(mangled);
      }
      unclear_ = said_.all.empty();
      return finish();
    }
    std::string_view name = text;
    if (name.starts_with("void ")) name.remove_prefix(5);
    if (name.ends_with(')')) {
      const std::size_t open = opening(name, '(', ')');
      if (open == name.npos) return unreadable();
      parameters(name.substr(open + 1, name.size() - open - 2));
      name = name.substr(0, open);
    }
    if (name.ends_with('>')) {
      const std::size_t open = opening(name, '<', '>');
      if (open == name.npos) return unreadable();
      arguments(name.substr(open + 1, name.size() - open - 2));
    }
    types_within(name);
    words(name);
    return finish();
  }

 private:
  KernelDtypes finish() {
    said_.unclear = unclear_;
    said_.clear = !unclear_ && !said_.all.empty();
    return std::move(said_);
  }

  static KernelDtypes unreadable() {
    KernelDtypes none;
    none.unclear = true;
    return none;
  }

  void note(const Dtype* dtype) {
    if (dtype == nullptr) return;
    ++spoken_;
    if (std::find(said_.all.begin(), said_.all.end(), dtype) == said_.all.end()) {
      said_.all.push_back(dtype);
    }
  }

  void parameters(std::string_view list) {
    for (const std::string_view parameter : split(list)) {
      std::string_view pointee = parameter;
      if (pointee.ends_with(" const")) pointee.remove_suffix(6);
      if (!pointee.ends_with('*')) {
        // By value: a structure may hold pointers, of which its template arguments tell.
        types_within(parameter.find('<') == parameter.npos ? std::string_view() : parameter);
        continue;
      }
      const Dtype* dtype = dtype_of_type(pointee);
      if (trim(pointee).starts_with("void")) unclear_ = true;
      note(dtype);
      if (dtype == nullptr) {
        within(pointee);
      } else {
        said_.pointees.push_back(dtype);
      }
    }
  }

  void arguments(std::string_view list) {
    for (const std::string_view argument : split(list)) {
      said_.arguments.push_back(dtype_of_type(argument));
      note(said_.arguments.back());
      if (said_.arguments.back() == nullptr && !is_value(argument)) within(argument);
    }
  }

  // A type that is no dtype may be made for one: unclear, where nothing within it says which.
  void within(std::string_view type) {
    const std::size_t before = spoken_;
    types_within(type);
    words(type);
    if (spoken_ == before) unclear_ = true;
  }

  // Names of types anywhere in a text.
  void types_within(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
      if (text[at] == '(') note_enumerator(text.substr(at));
      if (!is_word_byte(text[at])) {
        ++at;
        continue;
      }
      std::size_t end = at;
      while (end < text.size() && is_word_byte(text[end])) ++end;
      // `unsigned long long` is one type.
      for (const Builtin& known : builtins) {
        const std::size_t size = known.word.size();
        if (!text.substr(at).starts_with(known.word)) continue;
        if (at + size < text.size() && is_word_byte(text[at + size])) continue;
        end = at + size;
        break;
      }
      const std::string_view word = text.substr(at, end - at);
      note(dtype_of_identifier(word));
      const std::string_view rest = text.substr(end);
      if (word.ends_with("complex") && rest.starts_with('<')) {
        const std::size_t close = rest.find('>');
        if (close != rest.npos) note(dtype_of_type(text.substr(at, end - at + close + 1)));
      }
      at = end;
    }
  }

  // `(cudaDataType_t)2`: an enumerator, which may say of what type the data is.
  void note_enumerator(std::string_view text) {
    const std::size_t close = text.find(')');
    if (close == text.npos || close + 1 >= text.size()) return;
    const char next = text[close + 1];
    if (!is_digit(next) && next != '-') return;
    const std::string word = lower(text.substr(1, close - 1));
    for (const std::string_view part : {"type", "prec", "format", "fmt", "quant", "kind"}) {
      if (word.find(part) != word.npos) unclear_ = true;
    }
  }

  // Words of the names: `mv_f16`, `matmulBf16`, `Fp8Traits`. An identifier that is a type as a
  // whole has none.
  void words(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = at;
      while (end < text.size() && is_word_byte(text[end])) ++end;
      const std::string_view identifier = text.substr(at, end - at);
      if (dtype_of_identifier(identifier) == nullptr) words_of(identifier);
      at = end + 1;
    }
  }
  void words_of(std::string_view identifier) {
    std::size_t start = 0;
    for (std::size_t at = 0; at <= identifier.size(); ++at) {
      const bool ends = at == identifier.size() || identifier[at] == '_';
      const bool turns =
          !ends && at > start && is_upper(identifier[at]) && !is_upper(identifier[at - 1]);
      if (!ends && !turns) continue;
      note_word(identifier.substr(start, at - start));
      start = ends ? at + 1 : at;
    }
  }
  void note_word(std::string_view word) {
    // `float` and `int` among the words of a name are what C means by them.
    note(dtype_of_identifier(lower(word)));
  }

  KernelDtypes said_;
  // Times that a dtype was spoken of.
  std::size_t spoken_ = 0;
  bool unclear_ = false;
};

}  // namespace

bool KernelDtypes::may_take(const Dtype& dtype) const {
  return std::any_of(all.begin(), all.end(), [&dtype](const Dtype* said) {
    if (same_dtype(*said, dtype)) return true;
    const bool as_bits = said->kind == DtypeKind::unsigned_integer && said->bits == dtype.bits;
    // One byte: `char` is what everybody takes for raw memory, and where sub-byte values lie.
    const bool as_bytes = dtype.bits <= 8 && said->bits == 8;
    const bool as_halves = dtype.kind == DtypeKind::complex && said->kind == DtypeKind::floating &&
                           said->bits * 2 == dtype.bits;
    // `short` is as good as `unsigned short` for half-width floats.
    const bool as_short = dtype.kind == DtypeKind::floating && dtype.bits == 16 &&
                          said->kind == DtypeKind::signed_integer && said->bits == 16;
    return as_bits || as_bytes || as_halves || as_short;
  });
}

KernelDtypes read_kernel_dtypes(std::string_view mangled) { return Reader().read(mangled); }

}  // namespace opseal
