#include "rules/arch_guards.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "rules/condition_words.h"

namespace opseal {
namespace {

constexpr std::string_view macro = "__CUDA_ARCH__";
constexpr std::string_view feature = "__CUDA_ARCH_FEAT_SM";
constexpr int most_depth = 32;

constexpr std::array<std::uint32_t, 20> architectures{500,  520,  530,  600,  610,  620, 700,
                                                      720,  750,  800,  860,  870,  890, 900,
                                                      1000, 1010, 1030, 1100, 1200, 1210};

bool is_of_amd(std::string_view word) {
  return word.find("ROCM") != word.npos || word.find("__HIP") != word.npos ||
         word.find("_HIP") != word.npos || word.find("__AMDGCN") != word.npos ||
         word.find("USE_HIP") != word.npos;
}

GuardTruth negated(GuardTruth truth) {
  if (truth == GuardTruth::no) return GuardTruth::yes;
  return truth == GuardTruth::yes ? GuardTruth::no : truth;
}

// `decides`: the truth of one side that settles both.
GuardTruth joined(GuardTruth left, GuardTruth right, GuardTruth decides) {
  if (left == decides || right == decides) return decides;
  for (const GuardTruth open : {GuardTruth::by_architecture, GuardTruth::unknown}) {
    if (left == open || right == open) return open;
  }
  return negated(decides);
}

// An operand of a comparison, or of `&&`.
struct Operand {
  GuardTruth truth = GuardTruth::unknown;
  std::optional<std::uint32_t> number;
  bool is_architecture = false;
};

class GuardReader : ConditionWords {
 public:
  GuardReader(std::string_view guard, std::uint32_t architecture)
      : ConditionWords(guard), architecture_(architecture) {}

  GuardTruth read() {
    const GuardTruth truth = alternatives(0);
    skip();
    return failed_ || !rest_.empty() ? GuardTruth::unknown : truth;
  }

 private:
  GuardTruth alternatives(int depth) {
    GuardTruth truth = conjunction(depth);
    while (take("||")) truth = joined(truth, conjunction(depth), GuardTruth::yes);
    return truth;
  }
  GuardTruth conjunction(int depth) {
    GuardTruth truth = comparison(depth);
    while (take("&&")) truth = joined(truth, comparison(depth), GuardTruth::no);
    return truth;
  }

  GuardTruth comparison(int depth) {
    const Operand left = operand(depth);
    constexpr std::string_view signs[] = {">=", "<=", "==", "!=", ">", "<"};
    const auto* const sign = std::find_if(std::begin(signs), std::end(signs),
                                          [this](std::string_view one) { return take(one); });
    if (sign == std::end(signs)) return left.truth;
    const Operand right = operand(depth);
    if (!left.is_architecture && !right.is_architecture) return GuardTruth::unknown;
    if (!left.number || !right.number) return GuardTruth::by_architecture;
    const std::uint32_t a = *left.number;
    const std::uint32_t b = *right.number;
    const bool holds = *sign == ">="   ? a >= b
                       : *sign == "<=" ? a <= b
                       : *sign == "==" ? a == b
                       : *sign == "!=" ? a != b
                       : *sign == ">"  ? a > b
                                       : a < b;
    return holds ? GuardTruth::yes : GuardTruth::no;
  }

  Operand operand(int depth) {
    if (depth > most_depth) failed_ = true;
    if (failed_) return {};
    if (take("!")) return {negated(operand(depth + 1).truth), {}, false};
    if (take("(")) {
      Operand inner;
      skip();
      const std::string_view before = rest_;
      const std::string_view name = word();
      // `(__CUDA_ARCH__) >= (800)`
      if (!name.empty() && take(")")) return named(name);
      rest_ = before;
      inner.truth = alternatives(depth + 1);
      if (!take(")")) failed_ = true;
      return inner;
    }
    const std::string_view name = word();
    if (name.empty()) {
      failed_ = true;
      return {};
    }
    if (name == "defined") {
      const bool brackets = take("(");
      const std::string_view asked = word();
      if (brackets && !take(")")) failed_ = true;
      if (asked == macro) return {GuardTruth::yes, {}, false};
      return {is_of_amd(asked) ? GuardTruth::no : of_feature(asked), {}, false};
    }
    return named(name);
  }

  // `__CUDA_ARCH_FEAT_SM100_ALL` is there in code for `sm_100a` alone.
  GuardTruth of_feature(std::string_view name) const {
    if (!name.starts_with(feature)) return GuardTruth::unknown;
    name.remove_prefix(feature.size());
    std::uint32_t number = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
    const bool is_other = read.ec == std::errc() && number < 1000 && number * 10 != architecture_;
    return is_other ? GuardTruth::no : GuardTruth::unknown;
  }

  Operand named(std::string_view name) {
    if (name == macro) {
      return {architecture_ != 0 ? GuardTruth::yes : GuardTruth::no, architecture_, true};
    }
    if (name.front() >= '0' && name.front() <= '9') {
      std::uint32_t number = 0;
      const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
      const std::string_view suffix(read.ptr,
                                    static_cast<std::size_t>(name.data() + name.size() - read.ptr));
      if (read.ec == std::errc() && suffix.find_first_not_of("uUlL") == suffix.npos) {
        return {number != 0 ? GuardTruth::yes : GuardTruth::no, number, false};
      }
      return {};
    }
    return {is_of_amd(name) ? GuardTruth::no : of_feature(name), {}, false};
  }

  std::uint32_t architecture_;
  bool failed_ = false;
};

}  // namespace

std::span<const std::uint32_t> known_architectures() { return architectures; }

GuardTruth guard_truth(std::string_view guard, std::uint32_t architecture) {
  return GuardReader(guard, architecture).read();
}

bool holds_on_all_architectures(std::string_view guard) {
  bool ever = false;
  for (const std::uint32_t architecture : architectures) {
    const GuardTruth truth = guard_truth(guard, architecture);
    if (truth == GuardTruth::no || truth == GuardTruth::by_architecture) return false;
    ever = ever || truth == GuardTruth::yes;
  }
  // What is no comparison that can be read may be anything.
  return ever;
}

}  // namespace opseal
