#include "rules/mangled_names.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <vector>

#include "opseal/ascii.h"
#include "opseal/text.h"

namespace opseal {
namespace {

bool is_lower(char byte) { return byte >= 'a' && byte <= 'z'; }

// Walks the grammar of the Itanium C++ ABI, chapter 5.1, as far as names of functions go. It only
// skips what is no part of the path, and stops for good at the first thing that it doesn't know.
class NameReader {
 public:
  explicit NameReader(std::string_view text) : text_(text) {}

  // Reads `_Z` and the function's name. False: not such a name, or one that can't be read.
  bool read() {
    if (!take("_Z")) return false;
    take('L');
    name(true);
    return good_ && !path_.empty();
  }

  // Namespaces, classes and the function, outermost first.
  const std::vector<std::string_view>& path() const { return path_; }
  bool instantiated() const { return instantiated_; }

 private:
  // Deeper ones are nobody's kernel.
  static constexpr int most_depth = 48;

  class Deeper {
   public:
    explicit Deeper(NameReader& reader) : reader_(reader) {
      if (++reader_.depth_ > most_depth) reader_.good_ = false;
    }
    ~Deeper() { --reader_.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    NameReader& reader_;
  };

  char peek() const { return good_ && at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char byte) {
    if (peek() != byte) return false;
    ++at_;
    return true;
  }
  bool take(std::string_view word) {
    if (!good_ || !text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  void expect(char byte) {
    if (!take(byte)) good_ = false;
  }
  void skip_digits() {
    while (is_digit(peek())) ++at_;
  }
  // `_`, `0_`, `1A_`: the end of a substitution or a parameter.
  void sequence() {
    while (is_digit(peek()) || (peek() >= 'A' && peek() <= 'Z')) ++at_;
    expect('_');
  }

  void source_name(bool record) {
    std::size_t length = 0;
    while (is_digit(peek())) {
      length = length * 10 + static_cast<std::size_t>(text_[at_++] - '0');
      if (length > text_.size()) good_ = false;
    }
    if (!good_ || length == 0 || length > text_.size() - at_) {
      good_ = false;
      return;
    }
    if (record) path_.push_back(text_.substr(at_, length));
    at_ += length;
  }

  // A substitution. True: `St`, the start of a name in namespace `std`.
  bool substitution() {
    expect('S');
    if (take('t')) return true;
    for (const char known : {'a', 'b', 's', 'i', 'o', 'd'}) {
      if (take(known)) return false;
    }
    sequence();
    return false;
  }

  void unqualified(bool record) {
    const std::size_t start = at_;
    take('L');
    if (is_digit(peek())) {
      source_name(record);
    } else if (take("Ul")) {
      while (good_ && !take('E')) type();
      skip_digits();
      expect('_');
    } else if (take("Ut")) {
      skip_digits();
      expect('_');
    } else if (take('C') || take('D')) {
      if (!is_digit(peek())) good_ = false;
      ++at_;
    } else if (take("cv")) {
      type();
    } else if (is_lower(peek()) && at_ + 1 < text_.size() && is_lower(text_[at_ + 1])) {
      at_ += 2;
      if (record) path_.push_back(text_.substr(start, at_ - start));
    } else {
      good_ = false;
    }
    while (take('B')) source_name(false);
  }

  void template_arguments(bool record) {
    if (record) instantiated_ = true;
    expect('I');
    arguments();
  }
  void arguments() {
    const Deeper deeper(*this);
    while (good_ && !take('E')) argument();
  }
  void argument() {
    const Deeper deeper(*this);
    if (take('J')) {
      arguments();
    } else if (take('X')) {
      expression();
    } else if (peek() == 'L') {
      literal();
    } else {
      type();
    }
  }

  void literal() {
    expect('L');
    if (take("_Z")) {
      encoding();
      expect('E');
      return;
    }
    type();
    // A number, or digits of a floating-point value.
    while (good_ && !take('E')) {
      if (!is_digit(peek()) && !is_lower(peek()) && peek() != '_') good_ = false;
      ++at_;
    }
  }

  // What stands between `X` and its `E`: operators are single letters here, their operands are
  // names, types and literals.
  void expression() {
    const Deeper deeper(*this);
    while (good_ && !take('E')) {
      const char next = peek();
      if (next == 'L') {
        literal();
      } else if (next == 'I' || next == 'J' || next == 'X') {
        ++at_;
        arguments();
      } else if (next == 'N' || next == 'T' || next == 'S' || is_digit(next)) {
        type();
      } else if (next == 'f' && take("fp")) {
        skip_digits();
        expect('_');
      } else if (is_lower(next)) {
        ++at_;
      } else {
        good_ = false;
      }
    }
  }

  // A function's name and parameters, up to an `E` that is left for the caller.
  void encoding() {
    name(false);
    while (good_ && peek() != 'E' && peek() != '\0') type();
  }

  void nested(bool record) {
    expect('N');
    while (take('r') || take('V') || take('K') || take('R') || take('O')) {
    }
    while (good_ && !take('E')) {
      if (peek() == 'I') {
        template_arguments(record);
        continue;
      }
      // Only the last part counts.
      if (record) instantiated_ = false;
      if (peek() == 'S') {
        substitution();
      } else if (peek() == 'T') {
        type();
      } else if (take("DC")) {
        while (good_ && !take('E')) source_name(false);
      } else if (peek() == 'D' &&
                 (text_.substr(at_).starts_with("Dt") || text_.substr(at_).starts_with("DT"))) {
        type();
      } else {
        unqualified(record);
      }
    }
  }

  void name(bool record) {
    const Deeper deeper(*this);
    if (peek() == 'N') {
      nested(record);
    } else if (take('Z')) {
      encoding();
      expect('E');
      if (take('s')) {
        if (take('_')) skip_digits();
        return;
      }
      if (take('d')) {
        skip_digits();
        expect('_');
      }
      name(record);
      if (take("__")) {
        skip_digits();
        expect('_');
      } else if (take('_')) {
        skip_digits();
      }
    } else {
      if (peek() == 'S' && !substitution()) {
        if (peek() == 'I') template_arguments(record);
        return;
      }
      unqualified(record);
      if (peek() == 'I') template_arguments(record);
    }
  }

  void type() {
    const Deeper deeper(*this);
    while (take('P') || take('R') || take('O') || take('K') || take('V') || take('r') ||
           take('C') || take('G')) {
    }
    const char next = peek();
    if (next == 'D') {
      decimal_type();
    } else if (next == 'F') {
      ++at_;
      take('Y');
      while (good_ && !take('E')) {
        if (!take('R') && !take('O')) type();
      }
    } else if (next == 'A') {
      ++at_;
      skip_digits();
      if (peek() != '_') expression_until('_');
      expect('_');
      type();
    } else if (next == 'M') {
      ++at_;
      type();
      type();
    } else if (next == 'T') {
      ++at_;
      if (take('s') || take('u') || take('e')) {
        name(false);
      } else {
        sequence();
        if (peek() == 'I') template_arguments(false);
      }
    } else if (next == 'S') {
      if (substitution()) unqualified(false);
      if (peek() == 'I') template_arguments(false);
    } else if (next == 'U' || next == 'u') {
      if (text_.substr(at_).starts_with("Ul") || text_.substr(at_).starts_with("Ut")) {
        unqualified(false);
        return;
      }
      ++at_;
      source_name(false);
      if (peek() == 'I') template_arguments(false);
      if (next == 'U') type();
    } else if (next == 'N' || next == 'Z' || is_digit(next)) {
      name(false);
    } else if (is_lower(next)) {
      ++at_;
    } else {
      good_ = false;
    }
  }

  // `Dn`, `Dh`, `DF16b`, `Dv4_f`, `DpT_`, `DtX...E`.
  void decimal_type() {
    expect('D');
    if (take('F')) {
      skip_digits();
      if (!take('_') && !take('b') && !take('x')) good_ = false;
    } else if (take('v')) {
      skip_digits();
      if (peek() != '_') expression_until('_');
      expect('_');
      type();
    } else if (take('p') || take('o')) {
      type();
    } else if (take('t') || take('T')) {
      expression();
    } else if (is_lower(peek())) {
      ++at_;
    } else {
      good_ = false;
    }
  }

  void expression_until(char end) {
    while (good_ && peek() != end) {
      if (peek() == 'L') {
        literal();
      } else if (peek() == 'T' || peek() == 'S' || peek() == 'N' || is_digit(peek())) {
        type();
      } else if (is_lower(peek())) {
        ++at_;
      } else {
        good_ = false;
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool good_ = true;
  bool instantiated_ = false;
  std::vector<std::string_view> path_;
};

constexpr std::array<std::string_view, 9> generations = {
    "maxwell", "pascal", "volta", "turing", "ampere", "lovelace", "hopper", "blackwell", "rubin"};

// Two or three digits that may be an architecture. Longer numbers are something else: the macro
// `__CUDA_ARCH_LIST__`, which namespaces of headers are named after, says 750.
bool is_architecture_number(std::string_view text) {
  std::size_t digits = 0;
  while (digits < text.size() && is_digit(text[digits])) ++digits;
  if (digits < 2 || digits > 3) return false;
  return digits == 2 ? text[0] >= '2' : text[0] == '1';
}

bool word_names_architecture(std::string_view word) {
  const std::string text = lower(word);
  for (const std::string_view generation : generations) {
    if (text.find(generation) != text.npos) return true;
  }
  for (const std::string_view mark : {"sm", "arch", "compute", "cc", "cuda_arch"}) {
    for (std::size_t at = text.find(mark); at != text.npos; at = text.find(mark, at + 1)) {
      std::string_view rest = std::string_view(text).substr(at + mark.size());
      if (rest.starts_with('_')) rest.remove_prefix(1);
      // A word begins here: `_sm90`, `MainloopSm90`, but not `fsm90`.
      const bool begins = at == 0 || !is_lower(text[at - 1]) || !is_lower(word[at]);
      if (begins && is_architecture_number(rest)) return true;
    }
  }
  return false;
}

void mix(std::uint64_t& hash, std::string_view bytes) {
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3ULL;
  }
  hash = (hash ^ 0xff) * 0x100000001b3ULL;
}

// A demangler prints each back reference in full, so that a short name of many can stand for more
// text than there is memory. Each two can at most double it.
constexpr std::ptrdiff_t most_references = 32;
constexpr std::size_t most_demangled = 2000;
// Bytes of a name that a message has room for several of.
constexpr std::size_t most_short = 64;

std::string demangle(std::string_view mangled) {
  if (mangled.size() > most_demangled) return {};
  const std::ptrdiff_t references = std::count(mangled.begin(), mangled.end(), 'S') +
                                    std::count(mangled.begin(), mangled.end(), 'T');
  if (references > most_references) return {};
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(std::string(mangled).c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : std::string();
}

// Without `void ` before it and the parameters behind it.
std::string_view without_signature(std::string_view demangled) {
  if (demangled.starts_with("void ")) demangled.remove_prefix(5);
  if (!demangled.ends_with(')')) return demangled;
  int open = 0;
  for (std::size_t at = demangled.size(); at-- > 0;) {
    if (demangled[at] == ')') ++open;
    if (demangled[at] == '(' && --open == 0) return demangled.substr(0, at);
  }
  return demangled;
}

std::string path_text(const NameReader& reader) {
  std::string text;
  for (const std::string_view part : reader.path()) {
    if (!text.empty()) text += "::";
    text += part.starts_with("_GLOBAL__N_") ? "(anonymous namespace)" : part;
  }
  return text;
}

}  // namespace

FunctionName read_function_name(std::string_view mangled) {
  FunctionName function;
  function.hash = 0xcbf29ce484222325ULL;
  NameReader reader(mangled);
  if (!reader.read()) {
    mix(function.hash, mangled);
    function.names_architecture = word_names_architecture(mangled);
    return function;
  }
  for (const std::string_view part : reader.path()) {
    mix(function.hash, part);
    // The name of an anonymous namespace holds a digest of its file's path.
    if (part.starts_with("_GLOBAL__N_")) continue;
    function.names_architecture = function.names_architecture || word_names_architecture(part);
  }
  function.instantiated = reader.instantiated();
  return function;
}

std::string function_path(std::string_view mangled) {
  NameReader reader(mangled);
  return reader.read() ? path_text(reader) : std::string(mangled);
}

std::string demangled_name(std::string_view mangled) {
  NameReader reader(mangled);
  return reader.read() ? demangle(mangled) : std::string();
}

std::string readable_kernel(std::string_view mangled) {
  NameReader reader(mangled);
  if (!reader.read()) return std::string(mangled);
  const std::string demangled = demangle(mangled);
  if (!demangled.empty()) return std::string(without_signature(demangled));
  return path_text(reader) + (reader.instantiated() ? "<...>" : "");
}

std::string short_kernel(std::string_view mangled) {
  std::string text = readable_kernel(mangled);
  if (text.size() <= most_short) return text;
  NameReader reader(mangled);
  if (!reader.read()) return text;
  return path_text(reader) + (reader.instantiated() ? "<...>" : "");
}

DtypeNeed dtype_need(std::string_view mangled) {
  const std::string text = lower(mangled);
  const auto has = [&text](std::string_view word) { return text.find(word) != text.npos; };
  if (has("fp4") || has("e2m1")) return DtypeNeed::fp4;
  if (has("fp8") || has("e4m3") || has("e5m2") || has("float8")) return DtypeNeed::fp8;
  if (has("bfloat16") || has("bf16") || has("df16b")) return DtypeNeed::bf16;
  if (has("half") || has("fp16") || has("float16") || has("df16_")) return DtypeNeed::fp16;
  return DtypeNeed::none;
}

std::uint32_t least_capability(DtypeNeed need) {
  switch (need) {
    case DtypeNeed::none:
      return 0;
    case DtypeNeed::fp16:
      return 53;
    case DtypeNeed::bf16:
      return 80;
    case DtypeNeed::fp8:
      return 89;
    case DtypeNeed::fp4:
      return 100;
  }
  return 0;
}

}  // namespace opseal
