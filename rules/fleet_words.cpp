#include "rules/fleet_words.h"

#include "opseal/text.h"
#include "rules/architectures.h"

namespace opseal {
namespace {

// For hints only: what is read is any number.
constexpr std::string_view hints[] = {"sm_90",  "sm_80",  "sm_75",  "sm_86",  "sm_89",  "sm_100",
                                      "sm_120", "sm_70",  "sm_60",  "sm_50",  "sm_61",  "sm_87",
                                      "sm_103", "sm_110", "sm_121", "sm_90a", "sm_100a"};

// Generations, by NVIDIA's list "CUDA GPU Compute Capability". Each is several devices, which is
// why such a word is asked about and not read.
struct Generation {
  std::string_view name;
  std::string_view architecture;
};
constexpr Generation generations[] = {
    {"maxwell", "sm_50"}, {"pascal", "sm_60"}, {"volta", "sm_70"},      {"turing", "sm_75"},
    {"ampere", "sm_80"},  {"ada", "sm_89"},    {"lovelace", "sm_89"},   {"hopper", "sm_90"},
    {"thor", "sm_110"},   {"orin", "sm_87"},   {"blackwell", "sm_100"},
};

bool is_space(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

}  // namespace

std::vector<std::string_view> fleet_words(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < text.size();) {
    const auto parts = [&text](std::size_t byte) {
      return is_space(text[byte]) || text[byte] == ';' || text[byte] == ',';
    };
    std::size_t end = at;
    while (end < text.size() && !parts(end)) ++end;
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

bool is_amd_architecture(std::string_view word) {
  const std::string lowered = lower(word.substr(0, word.find(':')));
  std::string_view digits = lowered;
  if (!digits.starts_with("gfx")) return false;
  digits.remove_prefix(3);
  return digits.size() >= 3 && digits.size() <= 4 &&
         digits.find_first_not_of("0123456789abcdef") == digits.npos;
}

std::string_view nearest_architecture(std::string_view word) {
  const std::string lowered = lower(word.substr(0, 64));
  for (const auto& [name, architecture] : generations) {
    if (lowered == name) return architecture;
  }
  // `9` and `90b`.
  const bool bare = !lowered.empty() && lowered.front() >= '0' && lowered.front() <= '9';
  return nearest_name(bare ? "sm_" + lowered : lowered, hints);
}

std::string fleet_mistake(std::string_view text) {
  const std::vector<std::string_view> words = fleet_words(text);
  if (words.empty()) return "no architecture, expected one such as `sm_90`";
  for (const std::string_view word : words) {
    if (read_architecture(word) || is_amd_architecture(word)) continue;
    const std::string_view nearest = nearest_architecture(word);
    return quote(word) + " names no GPU architecture" +
           (nearest.empty() ? ", expected one such as `sm_90`"
                            : "; did you mean " + quote(nearest) + '?');
  }
  return {};
}

}  // namespace opseal
