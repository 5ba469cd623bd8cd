// How torch reads the parameters of a C++ kernel: ATen/core/jit_type.h says which type stands for
// which, c10/core/SymInt.h and the enumerations count as integers.

#include "rules/cpp_types.h"

#include <algorithm>
#include <array>
#include <utility>

#include "opseal/text.h"

namespace opseal {
namespace {

// Types within types; real ones have three.
constexpr int most_depth = 8;

using Row = std::pair<std::string_view, std::string_view>;

constexpr std::array<Row, 21> plain{{
    {"Tensor", "Tensor"},
    {"int64_t", "int"},
    {"SymInt", "int"},
    {"ScalarType", "int"},
    {"Layout", "int"},
    {"MemoryFormat", "int"},
    {"double", "float"},
    {"bool", "bool"},
    {"string", "str"},
    {"string_view", "str"},
    {"Scalar", "Scalar"},
    {"Device", "Device"},
    {"Generator", "Generator"},
    {"Storage", "Storage"},
    {"IntArrayRef", "int[]"},
    {"SymIntArrayRef", "int[]"},
    {"OptionalIntArrayRef", "int[]?"},
    {"OptionalSymIntArrayRef", "int[]?"},
    {"TensorList", "Tensor[]"},
    {"ITensorListRef", "Tensor[]"},
    {"OptionalTensorRef", "Tensor?"},
}};

constexpr std::array<Row, 9> around{{
    {"optional", "?"},
    {"vector", "[]"},
    {"ArrayRef", "[]"},
    {"HeaderOnlyArrayRef", "[]"},
    {"List", "[]"},
    {"IListRef", "[]"},
    {"array", "[]"},
    {"OptionalArrayRef", "[]?"},
    {"OptionalArray", "[]?"},
}};

template <std::size_t count>
std::optional<std::string_view> find_row(const std::array<Row, count>& rows,
                                         std::string_view name) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [name](const Row& row) { return row.first == name; });
  if (found == rows.end()) return {};
  return found->second;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\n')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n')) text.remove_suffix(1);
  return text;
}

// The parts between the commas that stand in no brackets of any kind.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  if (trim(text).empty()) return parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char byte = text[at];
    if (byte == '<' || byte == '(' || byte == '[' || byte == '{') ++depth;
    if (byte == '>' || byte == ')' || byte == ']' || byte == '}') --depth;
    if (byte != ',' || depth != 0) continue;
    parts.push_back(trim(text.substr(begin, at - begin)));
    begin = at + 1;
  }
  parts.push_back(trim(text.substr(begin)));
  return parts;
}

class TypeReader {
 public:
  explicit TypeReader(std::string_view text) : text_(text) {}

  // The type at the front; what may follow is the name of a parameter.
  std::string read(int depth = 0) {
    const std::string_view name = read_name();
    if (name.empty() || depth > most_depth) return {};
    skip_space();
    if (!at('<')) {
      const std::optional<std::string_view> known = find_row(plain, name);
      return known && ends() ? std::string(*known) : std::string();
    }
    const std::size_t close = closing_angle();
    if (close == text_.npos) return {};
    const std::vector<std::string_view> arguments = split(text_.substr(at_ + 1, close - at_ - 1));
    at_ = close + 1;
    const std::optional<std::string_view> suffix = find_row(around, name);
    const std::size_t expected = name == "array" ? 2 : 1;
    if (!suffix || arguments.size() != expected || !ends()) return {};
    const std::string inner = TypeReader(arguments.front()).read(depth + 1);
    return inner.empty() ? inner : inner + std::string(*suffix);
  }

 private:
  bool at(char byte) const { return at_ < text_.size() && text_[at_] == byte; }
  void skip_space() {
    while (at(' ') || at('\n')) ++at_;
  }

  std::string_view read_word() {
    skip_space();
    const std::size_t start = at_;
    while (at_ < text_.size() && is_word_byte(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  // The last part of a qualified name, `const` before it passed over.
  std::string_view read_name() {
    skip_space();
    if (text_.substr(at_).starts_with("::")) at_ += 2;
    std::string_view word = read_word();
    if (word == "const") return read_name();
    while (text_.substr(at_).starts_with("::")) {
      // Only in these a name means what it says.
      constexpr std::array<std::string_view, 7> spaces{"std",    "at",  "torch",     "c10",
                                                       "stable", "jit", "headeronly"};
      if (std::find(spaces.begin(), spaces.end(), word) == spaces.end()) return {};
      at_ += 2;
      word = read_word();
    }
    return word;
  }

  std::size_t closing_angle() const {
    int depth = 0;
    for (std::size_t at = at_; at < text_.size(); ++at) {
      if (text_[at] == '<') ++depth;
      if (text_[at] == '>' && --depth == 0) return at;
    }
    return text_.npos;
  }

  // Nothing follows that makes another type of it: no pointer, no second word of a type.
  bool ends() {
    skip_space();
    if (text_.substr(at_).starts_with("const")) at_ += 5;
    skip_space();
    while (at('&')) ++at_;
    read_word();
    skip_space();
    return at_ == text_.size() || at('=');
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

void read_results(std::string_view text, TorchSignature& signature) {
  signature.written_result = text;
  if (text.empty()) return;
  signature.says_results = true;
  if (text == "void") return;
  const std::size_t open = text.find('<');
  const std::string_view name = trim(text.substr(0, open));
  if (open != text.npos && (name == "std::tuple" || name == "tuple" || name == "::std::tuple") &&
      text.back() == '>') {
    for (const std::string_view member : split(text.substr(open + 1, text.size() - open - 2))) {
      signature.results.push_back(TypeReader(member).read());
    }
    return;
  }
  signature.results.push_back(TypeReader(text).read());
  // A name of the project's own may stand for a tuple.
  if (signature.results.front().empty()) signature.says_results = false;
}

}  // namespace

std::optional<TorchSignature> read_cpp_signature(std::string_view text) {
  text = trim(text);
  const std::size_t open = text.find('(');
  if (open == text.npos || text.back() != ')') return {};
  const std::string_view inside = text.substr(open + 1, text.size() - open - 2);
  if (inside == "...") return {};
  TorchSignature signature;
  read_results(trim(text.substr(0, open)), signature);
  if (trim(inside) == "void") return signature;
  for (const std::string_view parameter : split(inside)) {
    // torch fills it in by itself.
    if (parameter.find("DispatchKeySet") != parameter.npos) continue;
    signature.written.push_back(parameter);
    signature.parameters.push_back(TypeReader(parameter).read());
  }
  return signature;
}

}  // namespace opseal
