#include "opseal/dtypes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "analyzers/dtype_table.h"
#include "opseal/ascii.h"

namespace opseal {
namespace {

constexpr std::string_view namespace_marks[] = {"::", "."};

// Prefixes of enumerators, as `fold` leaves them: `DT_FLOAT`, `GGML_TYPE_F16`, `kTfLiteInt8`,
// `kFloat`, `ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT`, `DTYPE_F32`, `TYPE_FP32`,
// `TENSOR_TYPE_INT8`.
constexpr std::string_view enumerator_prefixes[] = {"ggmltype",   "onnxtensorelementdatatype",
                                                    "tensortype", "ktflite",
                                                    "tflite",     "datatype",
                                                    "dtype",      "dt",
                                                    "type",       "k"};

// Longer words are no dtypes, and work on them would be wasted on hostile input.
constexpr std::size_t longest_word = 200;
constexpr int deepest_nesting = 8;

bool is_letter(char byte) { return byte >= 'a' && byte <= 'z'; }

std::string fold(std::string_view word) {
  std::string out;
  for (const char byte : word) {
    if (byte == '_' || byte == '-' || byte == ' ') continue;
    out += byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte + 32) : byte;
  }
  return out;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

struct Spelling {
  std::string key;
  const Dtype* dtype;
};

struct Index {
  // As written, for the words whose letter case decides (`Float` is 32 bits, `float` may be 64).
  std::vector<Spelling> exact;
  std::vector<Spelling> folded;
  std::vector<std::string_view> spellings;
};

const Dtype* find(const std::vector<Spelling>& spellings, std::string_view key) {
  const auto found = std::lower_bound(
      spellings.begin(), spellings.end(), key,
      [](const Spelling& spelling, std::string_view wanted) { return spelling.key < wanted; });
  return found != spellings.end() && found->key == key ? found->dtype : nullptr;
}

Index make_index() {
  Index index;
  for (const Dtype& dtype : dtype_table) {
    std::string_view rest = dtype.spellings;
    while (!rest.empty()) {
      const std::string_view spelling = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(rest.size(), spelling.size() + 1));
      index.exact.push_back({std::string(spelling), &dtype});
      index.folded.push_back({fold(spelling), &dtype});
      // Enumerators would be odd suggestions.
      const bool enumerator = spelling[0] == 'k' || spelling.starts_with("CUDA_");
      if (!enumerator) index.spellings.push_back(spelling);
    }
  }
  // Stable: of two rows with one folded word the first wins, and the words of two meanings stand
  // first.
  const auto before = [](const Spelling& a, const Spelling& b) { return a.key < b.key; };
  std::stable_sort(index.exact.begin(), index.exact.end(), before);
  std::stable_sort(index.folded.begin(), index.folded.end(), before);
  return index;
}

const Index& index() {
  static const Index made = make_index();
  return made;
}

const Dtype* find_folded(const std::string& folded) {
  if (const Dtype* dtype = find(index().folded, folded)) return dtype;
  for (const std::string_view prefix : enumerator_prefixes) {
    if (!folded.starts_with(prefix)) continue;
    if (const Dtype* dtype = find(index().folded, folded.substr(prefix.size()))) return dtype;
  }
  return nullptr;
}

// A number at `text[at]` of at most 4 digits, or -1. Moves `at` behind it.
int number_at(std::string_view text, std::size_t& at) {
  const std::size_t start = at;
  int number = 0;
  while (at < text.size() && is_digit(text[at]) && at - start < 4) {
    number = number * 10 + (text[at++] - '0');
  }
  return at == start ? -1 : number;
}

bool skip(std::string_view text, std::size_t& at, std::string_view word) {
  if (!text.substr(at).starts_with(word)) return false;
  at += word.size();
  return true;
}

bool is_float_width(int bits) {
  for (const int width : {19, 24, 32, 40, 48, 64, 80, 96, 128, 256}) {
    if (bits == width) return true;
  }
  // Narrow ones of every width were built by somebody.
  return bits >= 1 && bits <= 16;
}

bool is_integer_width(int bits) {
  for (const int width : {20, 24, 32, 40, 48, 56, 64, 80, 96, 128, 192, 256, 512, 1024}) {
    if (bits == width) return true;
  }
  return bits >= 1 && bits <= 16;
}

// What may follow the exponent and mantissa of a float: ml_dtypes' letters for finite, no infinity,
// unsigned zero, a bias, and vLLM's `f`, `n`.
bool is_float_tail(std::string_view tail) {
  std::size_t at = 0;
  if (skip(tail, at, "b") && number_at(tail, at) < 0) return false;
  for (const std::string_view letters : {"fnuz", "fnu", "fn", "f", "n", "uz"}) {
    if (skip(tail, at, letters)) break;
  }
  return at == tail.size();
}

// A folded word against the shapes of scalar names. `unknown` when it has none of them.
DtypeReading read_scalar_shape(std::string_view word) {
  std::size_t at = 0;
  if (skip(word, at, "complex")) {
    const int bits = number_at(word, at);
    if (bits < 0 || at != word.size()) return DtypeReading::unknown;
    for (const int width : {16, 32, 64, 128, 192, 256}) {
      if (bits == width) return DtypeReading::well_formed;
    }
    return DtypeReading::impossible;
  }
  for (const std::string_view sign : {"qu", "q", "u", "s"}) {
    if (skip(word, at, sign)) break;
  }
  if (skip(word, at, "int")) {
    const int bits = number_at(word, at);
    if (bits < 0) return DtypeReading::unknown;
    // vLLM's bias: `uint4b8`.
    if (skip(word, at, "b") && number_at(word, at) < 0) return DtypeReading::unknown;
    if (at != word.size()) return DtypeReading::unknown;
    return is_integer_width(bits) ? DtypeReading::well_formed : DtypeReading::impossible;
  }
  // MLIR's `i17`, `ui5`, `si3` take any width.
  if (skip(word, at, "i") || at > 0) {
    if (const int bits = number_at(word, at); bits > 0 && at == word.size()) {
      return DtypeReading::well_formed;
    }
  }
  at = 0;
  // PTX and CUTLASS leave the width out: `e4m3`, `ue5m3`.
  skip(word, at, "u");
  if (skip(word, at, "e") && number_at(word, at) > 0 && skip(word, at, "m") &&
      number_at(word, at) >= 0 && is_float_tail(word.substr(at))) {
    return DtypeReading::well_formed;
  }
  at = 0;
  if (!skip(word, at, "b")) skip(word, at, "u");
  if (!skip(word, at, "float") && !skip(word, at, "fp") && !skip(word, at, "f")) {
    return DtypeReading::unknown;
  }
  const int bits = number_at(word, at);
  if (bits < 0) return DtypeReading::unknown;
  const std::string_view rest = word.substr(at);
  if (rest.empty()) {
    return is_float_width(bits) ? DtypeReading::well_formed : DtypeReading::impossible;
  }
  if (!skip(word, at, "e")) return DtypeReading::unknown;
  const int exponent = number_at(word, at);
  if (exponent < 0) return DtypeReading::unknown;
  if (at == word.size()) {
    return exponent < bits ? DtypeReading::well_formed : DtypeReading::impossible;
  }
  if (!skip(word, at, "m")) return DtypeReading::unknown;
  const int mantissa = number_at(word, at);
  if (mantissa < 0 || !is_float_tail(word.substr(at))) return DtypeReading::unknown;
  // A sign bit comes on top, except in formats for scales, which say so: `ue4m3`, `f8_e8m0fnu`.
  const bool may_be_unsigned = mantissa == 0 || word[0] == 'u' || word.ends_with('u');
  const bool adds_up =
      exponent + mantissa + 1 == bits || (may_be_unsigned && exponent + mantissa == bits);
  return adds_up ? DtypeReading::well_formed : DtypeReading::impossible;
}

// `q4_x`, `iq3_kt`, `tq2_0`, `ptq1_0`, `q6_0_r4`: block formats of ggml's forks and of projects
// that name their own likewise.
bool is_block_shape(std::string_view folded) {
  std::size_t at = 0;
  while (at < folded.size() && at < 3 && is_letter(folded[at]) && folded[at] != 'q') ++at;
  if (!skip(folded, at, "q")) return false;
  const int bits = number_at(folded, at);
  return bits >= 1 && bits <= 16;
}

// "Q5_O" for "Q5_0": the letter in the place of the digit. The known spelling, or empty.
std::string_view with_zeros_for_letters(const std::string& folded) {
  std::string meant = folded;
  for (std::size_t at = 1; at < meant.size(); ++at) {
    if (meant[at] == 'o' && is_digit(meant[at - 1])) meant[at] = '0';
  }
  const Dtype* dtype = meant == folded ? nullptr : find_folded(meant);
  return dtype == nullptr ? std::string_view() : dtype->name;
}

// Names that llama.cpp's quantiser gives to mixes (`llama_ftype`), and those of Unsloth's files.
// The mixes that are called like their main type (`Q4_0`, `IQ4_XS`) are dtypes.
bool is_file_format(std::string_view folded) {
  for (const std::string_view word : {"iq3xs", "iq3m", "iq2m", "iq3kl", "q2ks", "mxfp4moe"}) {
    if (folded == word) return true;
  }
  if (folded.starts_with("mostly") || folded.starts_with("llamaftype") ||
      folded.starts_with("udq") || folded.starts_with("udiq")) {
    return true;
  }
  if (folded.size() < 4 || folded[0] != 'q' || !is_digit(folded[1]) || folded[2] != 'k') {
    return false;
  }
  const std::string_view size = folded.substr(3);
  return size == "s" || size == "m" || size == "l" || size == "xl";
}

// NumPy's `<f4`, `|u1`, `>c16`, `<U5`, `|O`.
const Dtype* find_array_code(std::string_view word) {
  if (word.size() < 2 || std::string_view("<>=|").find(word[0]) == std::string_view::npos) {
    return nullptr;
  }
  static constexpr std::pair<std::string_view, std::string_view> codes[] = {
      {"b1", "bool"}, {"?", "bool"},   {"i1", "i8"},  {"i2", "i16"},  {"i4", "i32"}, {"i8", "i64"},
      {"u1", "u8"},   {"u2", "u16"},   {"u4", "u32"}, {"u8", "u64"},  {"f2", "f16"}, {"f4", "f32"},
      {"f8", "f64"},  {"f16", "f128"}, {"c8", "c64"}, {"c16", "c128"}};
  const std::string_view code = word.substr(1);
  for (const auto& [spelling, name] : codes) {
    if (code == spelling) return find(index().exact, name);
  }
  static constexpr std::pair<char, std::string_view> others[] = {
      {'U', "string"}, {'S', "string"},     {'a', "string"},     {'O', "object"},
      {'V', "void"},   {'M', "datetime64"}, {'m', "timedelta64"}};
  for (const auto& [letter, name] : others) {
    if (code[0] == letter) return find(index().exact, name);
  }
  return nullptr;
}

DtypeWord read_word(std::string_view word, int depth);

// Every part in between must itself be readable; the first that isn't decides.
DtypeWord read_parts(std::string_view inside, int depth) {
  int open = 0;
  std::size_t start = 0;
  for (std::size_t at = 0; at <= inside.size(); ++at) {
    const char byte = at < inside.size() ? inside[at] : ',';
    if (byte == '(' || byte == '<') ++open;
    if (byte == ')' || byte == '>') --open;
    if (at < inside.size() && (byte != ',' || open > 0)) continue;
    const DtypeWord part = read_word(inside.substr(start, at - start), depth + 1);
    if (part.reading != DtypeReading::dtype && part.reading != DtypeReading::composed &&
        part.reading != DtypeReading::well_formed) {
      return part;
    }
    start = at + 1;
  }
  return {DtypeReading::composed, nullptr, inside};
}

// ONNX's `tensor(x)`, `seq(x)`, `map(k, v)`; MLIR's `complex<f32>`, dialect types, JAX's
// `key<fry>`.
DtypeWord read_brackets(std::string_view word, int depth) {
  const std::size_t open = word.find_first_of("(<[");
  const char closing = word[open] == '(' ? ')' : word[open] == '<' ? '>' : ']';
  const std::string_view head = trim(word.substr(0, open));
  if (word.back() != closing || depth >= deepest_nesting) {
    return {DtypeReading::unknown, nullptr, word};
  }
  const std::string_view inside = trim(word.substr(open + 1, word.size() - open - 2));
  if (closing == ')') {
    // In ONNX `float` is 32 bits.
    if (head == "tensor" && inside == "float") {
      return {DtypeReading::dtype, find(index().exact, "f32"), inside};
    }
    if (head == "tensor") return read_word(inside, depth + 1);
    for (const std::string_view known : {"seq", "sequence", "optional", "sparse_tensor", "map"}) {
      if (head == known) return read_parts(inside, depth);
    }
    if (head == "opaque") return {DtypeReading::composed, nullptr, inside};
    return {DtypeReading::unknown, nullptr, word};
  }
  // `datetime64[ns]`, `custom[posit8]16` and `f32[2,3]` say more than the dtype; types in angle
  // brackets belong to dialects and languages that this table can't know.
  if (closing == '>' || head == "custom") return {DtypeReading::composed, nullptr, inside};
  return read_word(head, depth + 1);
}

DtypeWord read_word(std::string_view word, int depth) {
  word = trim(word);
  if (word.empty() || word.size() > longest_word) return {DtypeReading::unknown, nullptr, word};
  if (const Dtype* dtype = find_array_code(word)) return {DtypeReading::dtype, dtype, word};
  // NumPy's one-letter codes.
  if (word.size() == 1) {
    const bool code = std::string_view("?bhilqpBHILQPefdgFDGSUVOMm").find(word[0]) != word.npos;
    return {code ? DtypeReading::composed : DtypeReading::unknown, nullptr, word};
  }
  // A type of a dialect.
  if (word[0] == '!') return {DtypeReading::composed, nullptr, word};
  if (word.starts_with("const ")) word.remove_prefix(6);
  while (!word.empty() && (word.back() == '*' || word.back() == '&' || word.back() == ' ')) {
    word.remove_suffix(1);
  }
  if (word.find_first_of("(<[") != std::string_view::npos) return read_brackets(word, depth);
  std::string_view bare = word;
  for (const std::string_view mark : namespace_marks) {
    const std::size_t at = bare.rfind(mark);
    if (at != std::string_view::npos && at + mark.size() < bare.size()) {
      bare.remove_prefix(at + mark.size());
    }
  }
  // Whatever calls its types by a namespace, save NumPy and Python, has the 32-bit `float`.
  if (bare == "float" && word.starts_with("torch")) {
    return {DtypeReading::dtype, find(index().exact, "f32"), bare};
  }
  if (const Dtype* dtype = find(index().exact, bare)) return {DtypeReading::dtype, dtype, bare};
  // C's `int32_t`, TensorFlow's `float_ref` and `DT_FLOAT_REF`.
  std::string_view stem = bare;
  for (const std::string_view suffix : {"_t", "_ref", "_REF"}) {
    if (stem.ends_with(suffix)) stem.remove_suffix(suffix.size());
  }
  if (const Dtype* dtype = find_folded(fold(bare))) return {DtypeReading::dtype, dtype, bare};
  const std::string folded = fold(stem);
  if (is_file_format(folded)) return {DtypeReading::file_format, nullptr, bare};
  if (const Dtype* dtype = find_folded(folded)) return {DtypeReading::dtype, dtype, bare};
  const DtypeReading shape = read_scalar_shape(folded);
  if (shape != DtypeReading::unknown) return {shape, nullptr, bare};
  if (is_block_shape(folded) && with_zeros_for_letters(folded).empty()) {
    return {DtypeReading::well_formed, nullptr, bare};
  }
  // DLPack's lanes: `float32x4`.
  const std::size_t lanes = folded.rfind('x');
  if (lanes != std::string::npos && lanes + 1 < folded.size() && lanes > 0 &&
      std::all_of(folded.begin() + static_cast<std::ptrdiff_t>(lanes) + 1, folded.end(),
                  is_digit) &&
      find_folded(folded.substr(0, lanes)) != nullptr) {
    return {DtypeReading::composed, nullptr, bare};
  }
  return {DtypeReading::unknown, nullptr, bare};
}

// One insertion, deletion, replacement or swap of neighbours away, and not equal.
bool one_slip_apart(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > 1 || a == b) return false;
  std::size_t same = 0;
  while (same < a.size() && a[same] == b[same]) ++same;
  const std::string_view tail_a = a.substr(same);
  const std::string_view tail_b = b.substr(same);
  if (a.size() < b.size()) return tail_a == tail_b.substr(1);
  if (tail_a.substr(1) == tail_b.substr(1)) return true;
  return tail_a.size() >= 2 && tail_a[0] == tail_b[1] && tail_a[1] == tail_b[0] &&
         tail_a.substr(2) == tail_b.substr(2);
}

// "flaot32" is ("flaot", "32"). Only words that are letters, then digits, are split.
std::pair<std::string_view, std::string_view> split_digits(std::string_view word) {
  std::size_t letters = 0;
  while (letters < word.size() && is_letter(word[letters])) ++letters;
  return {word.substr(0, letters), word.substr(letters)};
}

}  // namespace

DtypeWord read_dtype(std::string_view word) { return read_word(word, 0); }

const Dtype* find_dtype(std::string_view word) { return read_dtype(word).dtype; }

bool same_dtype(const Dtype& a, const Dtype& b) {
  if (a.name == b.name) return true;
  const std::array<std::string_view, 2> meanings_a =
      a.first.empty() ? std::array{a.name, a.name} : std::array{a.first, a.second};
  const std::array<std::string_view, 2> meanings_b =
      b.first.empty() ? std::array{b.name, b.name} : std::array{b.first, b.second};
  return std::find_first_of(meanings_a.begin(), meanings_a.end(), meanings_b.begin(),
                            meanings_b.end()) != meanings_a.end();
}

std::string_view misspelt_dtype(std::string_view word) {
  if (word.size() > longest_word) return {};
  const std::string folded = fold(word);
  if (const std::string_view meant = with_zeros_for_letters(folded); !meant.empty()) return meant;
  const auto [letters, digits] = split_digits(folded);
  for (const Spelling& spelling : index().folded) {
    if (spelling.key.size() >= 4 && folded.find(spelling.key) != folded.npos) return {};
  }
  for (const std::string_view spelling : dtype_spellings()) {
    const std::string known = fold(spelling);
    const auto [known_letters, known_digits] = split_digits(known);
    // Short words are one letter from each other anyway, and a project's own plain words ("bytes",
    // "packed") are often near some type's name.
    const std::size_t least = known_digits.empty() ? 6 : 4;
    if (known_letters.size() < least || digits != known_digits) continue;
    if (one_slip_apart(letters, known_letters)) return spelling;
  }
  return {};
}

std::span<const std::string_view> dtype_spellings() { return index().spellings; }

bool is_storage_format(const Dtype& dtype) {
  return dtype.kind == DtypeKind::block ||
         (dtype.kind == DtypeKind::floating && dtype.bits > 0 && dtype.bits <= 8);
}

}  // namespace opseal
