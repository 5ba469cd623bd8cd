#include "rules/host_guards.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "opseal/text.h"
#include "rules/arch_guards.h"
#include "rules/condition_words.h"

namespace opseal {
namespace {

enum class Scale : std::uint8_t { none, whole, major };

// `sm`, `sm_version`, `compute_capability` are numbers such as 90; `major` is 9.
Scale scale_of(std::string_view name) {
  std::string word = lower(name);
  std::erase(word, '_');
  if (word == "major" || word == "smmajor" || word == "ccmajor" ||
      word == "computecapabilitymajor") {
    return Scale::major;
  }
  constexpr std::array<std::string_view, 16> whole{"sm",
                                                   "cc",
                                                   "arch",
                                                   "smversion",
                                                   "smarch",
                                                   "versionnum",
                                                   "cudaarch",
                                                   "gpuarch",
                                                   "devicearch",
                                                   "computecapability",
                                                   "capability",
                                                   "getsmversion",
                                                   "getsmversionnum",
                                                   "smver",
                                                   "devicecapability",
                                                   "getcomputecapability"};
  return std::find(whole.begin(), whole.end(), word) != whole.end() ? Scale::whole : Scale::none;
}

// The condition as one on `__CUDA_ARCH__`, which is what `guard_truth` reads.
class Translation : ConditionWords {
 public:
  explicit Translation(std::string_view condition) : ConditionWords(condition) {}

  std::optional<std::string> run() {
    while (!rest_.empty()) {
      if (!is_word_byte(rest_.front())) {
        text_ += rest_.front();
        rest_.remove_prefix(1);
        continue;
      }
      if (!add_comparison(name())) return {};
    }
    return text_;
  }

 private:
  // The last of `a.b->c()`.
  std::string_view name() {
    std::string_view last = word();
    while (take("->") || take("::") || take(".")) last = word();
    if (take("(") && !take(")")) return {};
    return last;
  }

  bool add_comparison(std::string_view name) {
    const Scale scale = scale_of(name);
    if (scale == Scale::none) return false;
    constexpr std::array<std::string_view, 6> signs{">=", "<=", "==", "!=", ">", "<"};
    const auto* const sign = std::find_if(signs.begin(), signs.end(),
                                          [this](std::string_view one) { return take(one); });
    if (sign == signs.end()) return false;
    const std::string_view digits = word();
    std::uint32_t number = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) return false;
    return scale == Scale::major ? add_major(*sign, number) : add_whole(*sign, number);
  }

  bool add_whole(std::string_view sign, std::uint32_t number) {
    if (number >= 50 && number <= 130) number *= 10;
    if (number < 500 || number > 1300) return false;
    text_ += "__CUDA_ARCH__ " + std::string(sign) + " " + std::to_string(number);
    return true;
  }

  // Of 9 are 900 to 999.
  bool add_major(std::string_view sign, std::uint32_t number) {
    if (number < 5 || number > 13) return false;
    const std::string from = std::to_string(number * 100);
    const std::string behind = std::to_string((number + 1) * 100);
    const std::string macro = "__CUDA_ARCH__ ";
    if (sign == ">=") text_ += macro + ">= " + from;
    if (sign == ">") text_ += macro + ">= " + behind;
    if (sign == "<") text_ += macro + "< " + from;
    if (sign == "<=") text_ += macro + "< " + behind;
    if (sign == "==") text_ += "(" + macro + ">= " + from + " && " + macro + "< " + behind + ")";
    if (sign == "!=") text_ += "(" + macro + "< " + from + " || " + macro + ">= " + behind + ")";
    return true;
  }

  std::string text_;
};

}  // namespace

std::optional<std::vector<std::uint32_t>> admitted_architectures(std::string_view condition) {
  const std::optional<std::string> guard = Translation(condition).run();
  if (!guard) return {};
  std::vector<std::uint32_t> admitted;
  for (const std::uint32_t architecture : known_architectures()) {
    const GuardTruth truth = guard_truth(*guard, architecture);
    if (truth == GuardTruth::unknown || truth == GuardTruth::by_architecture) return {};
    if (truth == GuardTruth::yes) admitted.push_back(architecture);
  }
  return admitted;
}

}  // namespace opseal
