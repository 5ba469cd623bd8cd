#include "rules/library_variants.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>

#include "opseal/ascii.h"
#include "opseal/keys.h"
#include "opseal/paths.h"
#include "opseal/text.h"
#include "rules/system_libraries.h"

namespace opseal {
namespace {

// Words before a number that say of which thing it is the version or the architecture.
constexpr std::array<std::string_view, 30> numbered = {
    "cuda",    "cu",   "rocm", "hip", "sm",     "compute", "gfx",    "xpu",   "musa", "cann",
    "cpython", "cp",   "py",   "abi", "python", "torch",   "pt",     "v",     "so",   "ort",
    "toolkit", "armv", "sse",  "avx", "x",      "glibc",   "jaxlib", "numpy", "tf",   "ascend"};

// Whole words that name an instruction set or another way to build the same.
constexpr std::array<std::string_view, 42> build_words = {
    "amd64",          "aarch64",   "arm64",      "i386",       "i686",        "ppc64le",
    "s390x",          "riscv64",   "linux",      "gnu",        "musl",        "manylinux",
    "haswell",        "skylake",   "skylakex",   "icelake",    "alderlake",   "zen4",
    "sandybridge",    "ivybridge", "piledriver", "cannonlake", "cascadelake", "cooperlake",
    "sapphirerapids", "noavx",     "avx",        "neon",       "sve",         "fma",
    "f16c",           "generic",   "nosimd",     "cxx11",      "cxx98",       "precxx11",
    "debug",          "release",   "static",     "shared",     "mt",          "x86"};

constexpr std::array<std::string_view, 13> device_words = {"cpu", "gpu",  "cuda", "rocm",  "hip",
                                                           "xpu", "sycl", "musa", "metal", "vulkan",
                                                           "npu", "cann", "tpu"};

bool is_letter(char byte) { return std::isalpha(static_cast<unsigned char>(byte)) != 0; }

template <std::size_t size>
bool has(const std::array<std::string_view, size>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// `12`, `90a`, `100f`; of an architecture of AMD also hexadecimal digits: `gfx90a`.
bool is_version(std::string_view text) {
  if (text.empty() || !is_digit(text[0])) return false;
  const std::size_t digits =
      static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
  return text.size() - digits <= 1;
}

// A number that may well be a CUDA architecture: `80`, `90a`, `120`.
bool is_architecture(std::string_view version) {
  unsigned number = 0;
  std::from_chars(version.data(), version.data() + version.size(), number);
  return number >= 50 && number < 200;
}

// A word that only tells builds apart.
bool tells_build(std::string_view word) {
  if (is_version(word) || has(build_words, word)) return true;
  const auto digit = std::find_if(word.begin(), word.end(), is_digit);
  const std::size_t letters = static_cast<std::size_t>(digit - word.begin());
  if (letters == 0 || letters == word.size()) return false;
  return is_version(word.substr(letters)) && has(numbered, word.substr(0, letters));
}

std::string stem(std::string_view path, bool devices_too) {
  const std::string text = lower(path);
  std::string result;
  std::string_view before;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_letter(text[at]) && !is_digit(text[at])) {
      result += text[at++];
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && (is_letter(text[end]) || is_digit(text[end]))) ++end;
    const std::string_view word = std::string_view(text).substr(at, end - at);
    // A number alone tells a build behind the word that it belongs to (`cpython-311`,
    // `x86_64`), behind `.so`, as a whole folder, and where it looks like an architecture;
    // elsewhere it may be any number.
    const bool alone = is_version(word);
    const bool folder = alone && (at == 0 || text[at - 1] == '/') &&
                        (end < text.size() && (text[end] == '/' || text[end] == '.'));
    const bool behind = alone && (has(numbered, before) || before == "#");
    const bool told = alone ? folder || behind || is_architecture(word)
                            : tells_build(word) || (devices_too && has(device_words, word));
    if (told) {
      result += '#';
      before = "#";
    } else {
      result += word;
      before = word;
    }
    at = end;
  }
  // How many such words there are is of no account: `so.0.6.0` and `so`, `x` and `x_cuda118`.
  std::string folded;
  for (const char byte : result) {
    if (byte == '#') {
      while (!folded.empty() && (folded.back() == '.' || folded.back() == '-' ||
                                 folded.back() == '_' || folded.back() == '#')) {
        folded.pop_back();
      }
    }
    folded += byte;
  }
  std::erase(folded, '#');
  return folded;
}

// `libx.so` and `libx_runtime.so` of one folder.
bool is_named_after(std::string_view part, std::string_view whole) {
  if (part.substr(0, part.rfind('/') + 1) != whole.substr(0, whole.rfind('/') + 1)) return false;
  const std::string_view name = file_name_of(part);
  std::string_view begin = file_name_of(whole);
  begin = begin.substr(0, begin.find('.'));
  return name.size() > begin.size() && name.starts_with(begin) &&
         (name[begin.size()] == '_' || name[begin.size()] == '-');
}

bool needs(const Fact& user, const Fact& library, std::string_view path) {
  for (const Fact needed : user[Key::needed].items()) {
    if (needed.text() == file_name_of(path)) return true;
    if (needed.is_text() && library[Key::soname].is(needed.text())) return true;
  }
  return false;
}

// Fewer names in common than these come from an interface that many libraries have: `PyInit`,
// `RegisterCustomOps`, the entry points of a ggml backend.
constexpr std::size_t least_common = 4;

}  // namespace

std::string variant_stem(std::string_view path) { return stem(path, false); }
std::string backend_stem(std::string_view path) { return stem(path, true); }

std::string numberless_stem(std::string_view path) {
  std::string result(path);
  std::erase_if(result, is_digit);
  return result;
}

bool need_other_versions(const Fact& a, const Fact& b) {
  // A library needs some dozens.
  constexpr std::uint32_t most_needed = 256;
  if (a[Key::needed].size() > most_needed || b[Key::needed].size() > most_needed) return false;
  for (const Fact first : a[Key::needed].items()) {
    const std::string_view family = soname_family(first.text());
    if (family.size() == first.text().size()) continue;
    for (const Fact second : b[Key::needed].items()) {
      if (soname_family(second.text()) == family && second.name() != first.name()) return true;
    }
  }
  return false;
}

bool LibraryVariants::alternatives(const Fact& a, const Fact& b) {
  return alternatives(a, a[Key::path].text(), b, b[Key::path].text());
}

bool LibraryVariants::alternatives(const Fact& a, std::string_view path_a, const Fact& b,
                                   std::string_view path_b) {
  if (a == b) return true;
  for (const Key key : {Key::digest, Key::build_id}) {
    if (a[key].is_text() && b[key].is_text() && a[key].name() == b[key].name()) return true;
  }
  if (path_a != path_b && variant_stem(path_a) == variant_stem(path_b)) return true;
  if (path_a != path_b && numberless_stem(path_a) == numberless_stem(path_b) &&
      (need_other_versions(a, b) || nearly_equal_exports(a, b))) {
    return true;
  }
  if (backend_stem(path_a) == backend_stem(path_b) && nearly_equal_exports(a, b)) return true;
  return is_reduced_build(a, path_a, b, path_b) || is_reduced_build(b, path_b, a, path_a);
}

// Whoever has the whole one does without it. Two that contain the same archive export things of
// their own as well, or one builds on the other.
bool LibraryVariants::is_reduced_build(const Fact& part, std::string_view part_path,
                                       const Fact& whole, std::string_view whole_path) {
  if (!is_named_after(part_path, whole_path)) return false;
  if (needs(part, whole, whole_path) || needs(whole, part, part_path)) return false;
  const std::vector<Name>& names = strong_functions(part);
  const std::vector<Name>& all = strong_functions(whole);
  return names.size() >= least_common &&
         std::includes(all.begin(), all.end(), names.begin(), names.end());
}

// Templates and inline functions are in every library that uses them; they are weak.
const std::vector<Name>& LibraryVariants::strong_functions(const Fact& content) {
  const auto [place, fresh] = functions_.try_emplace(content.index());
  if (!fresh) return place->second;
  std::vector<Name>& names = place->second;
  for (const Fact symbol : content[Key::exports].items()) {
    const Fact kind = symbol[Key::kind];
    if (symbol[Key::weak].truth() || (kind.is_text() && !kind.is("function"))) continue;
    if (symbol[Key::name].is("_init") || symbol[Key::name].is("_fini")) continue;
    if (symbol[Key::name].is_text()) names.push_back(symbol[Key::name].name());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool LibraryVariants::nearly_equal_exports(const Fact& a, const Fact& b) {
  const std::vector<Name>& names = strong_functions(a);
  const std::vector<Name>& others = strong_functions(b);
  std::size_t common = 0;
  for (auto left = names.begin(), right = others.begin();
       left != names.end() && right != others.end();) {
    if (*left == *right) ++common;
    const Name least = std::min(*left, *right);
    if (*left == least) ++left;
    if (*right == least) ++right;
  }
  return common >= least_common && common * 10 >= std::max(names.size(), others.size()) * 9;
}

}  // namespace opseal
