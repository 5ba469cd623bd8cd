#include "analyzers/sources/predicate_names.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "analyzers/sources/cpp_function.h"

namespace opseal {
namespace {

// `is`, `gemm`, `type` of `isGemmType`, in lower case.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (std::size_t at = 0; at < name.size(); ++at) {
    const char byte = name[at];
    const bool upper = byte >= 'A' && byte <= 'Z';
    const bool begins = upper && at > 0 && name[at - 1] >= 'a' && name[at - 1] <= 'z';
    if (begins || byte == '_' || byte == ':') words.emplace_back();
    if (byte != '_' && byte != ':') words.back() += upper ? static_cast<char>(byte + 32) : byte;
  }
  std::erase_if(words, [](const std::string& word) { return word.empty(); });
  return words;
}

// Devices and the ways to program them.
bool is_device_word(std::string_view word) {
  constexpr std::array<std::string_view, 14> words{"cpu",   "gpu",    "cuda",   "hip",  "rocm",
                                                   "metal", "vulkan", "opencl", "sycl", "webgpu",
                                                   "musa",  "cann",   "npu",    "xpu"};
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

bool sounds_like_predicate(std::string_view name) {
  return name.find("upport") != name.npos && name.find("nsupport") == name.npos;
}

bool speaks_for(std::string_view predicate, std::string_view dispatch,
                std::string_view enumeration) {
  constexpr std::array<std::string_view, 24> plain{
      "is",     "are",    "can",     "has",    "support", "supports", "supported", "check",
      "op",     "ops",    "type",    "types",  "dtype",   "kind",     "layer",     "node",
      "format", "kernel", "backend", "device", "data",    "operator", "this",      "by"};
  std::vector<std::string> others = words_of(dispatch);
  const bool has_device = std::any_of(others.begin(), others.end(), is_device_word);
  for (std::string& word : words_of(enumeration)) others.push_back(std::move(word));
  const std::vector<std::string> words = words_of(base_of(predicate));
  return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::find(plain.begin(), plain.end(), word) != plain.end() ||
           (!has_device && is_device_word(word)) ||
           std::find(others.begin(), others.end(), word) != others.end();
  });
}

bool names_values(std::string_view function) {
  constexpr std::array<std::string_view, 11> naming{"name",    "names", "string",     "str",
                                                    "strings", "text",  "size",       "label",
                                                    "print",   "desc",  "description"};
  constexpr std::array<std::string_view, 8> serving{"kernel", "pipeline", "shader",  "function",
                                                    "entry",  "launcher", "program", "symbol"};
  const std::vector<std::string> words = words_of(base_of(function));
  const auto has_one_of = [&words](const auto& known) {
    return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
      return std::find(known.begin(), known.end(), word) != known.end();
    });
  };
  return has_one_of(naming) && !has_one_of(serving);
}

}  // namespace opseal
