#include <string>

#include "compare/change_members.h"
#include "opseal/text.h"

namespace opseal {
namespace {

struct Function {
  Key key;
  std::string_view noun;
  std::string_view lost;
  std::string_view gained;
};

constexpr Function functions[] = {
    {Key::transpose, "transpose rule", "reverse-mode differentiation of it fails",
     "reverse-mode differentiation can go through it"},
    {Key::linearization, "linearization rule",
     "linearizing falls back to the JVP, where there is one", "linearizing goes its own way"},
    {Key::gradient, "gradient", "differentiating through it fails",
     "it can be differentiated through"},
    {Key::abstract, "shape function", "tracing and compiling it fails",
     "it can be traced and compiled"},
};

void compare_functions(const Compared& compared) {
  for (const Function& function : functions) {
    if (!compared.list.both(compared.before(), compared.after(), function.key)) continue;
    const Fact then = compared.before()[function.key];
    const Fact now = compared.after()[function.key];
    const std::string noun(function.noun);
    if (now.is_null() && then.present()) {
      compared.list.add(Impact::breaking, to_text(function.key), compared.subject,
                        "no " + noun + ", before one", function.lost, then, now);
    } else if (then.is_null() && now.present()) {
      compared.list.add(Impact::additive, to_text(function.key), compared.subject,
                        "a " + noun + ", before none", function.gained, then, now);
    } else if (function.key != Key::abstract && !same_meaning(then, now)) {
      compared.list.add(Impact::numerics, to_text(function.key), compared.subject,
                        noun + ' ' + difference_text(then, now), "gradients may come out otherwise",
                        then, now);
    }
  }
}

void compare_mark(const Compared& compared) {
  if (!compared.list.both(compared.before(), compared.after(), Key::differentiable)) return;
  const Fact then = compared.before()[Key::differentiable];
  const Fact now = compared.after()[Key::differentiable];
  if (then.truth() == now.truth()) return;
  compared.list.add(now.truth() ? Impact::additive : Impact::breaking, "differentiable",
                    compared.subject,
                    "`differentiable` is " + value_text(now) + ", before " + value_text(then),
                    now.truth() ? "it is meant to be differentiated through"
                                : "it is not meant to be differentiated through any more",
                    then, now);
}

class Slots {
 public:
  explicit Slots(const Compared& compared)
      : compared_(compared), then_(compared.before()[Key::jvp]), now_(compared.after()[Key::jvp]) {}

  void compare() {
    const FactRange before = then_[Key::rules].items();
    const FactRange after = now_[Key::rules].items();
    auto left = before.begin();
    auto right = after.begin();
    std::uint32_t slot = 0;
    for (; left != before.end() && right != after.end(); ++left, ++right, ++slot) {
      compare_slot(slot, *left, *right);
    }
    compare_count();
    compare_tangents();
  }

 private:
  void add(Impact impact, std::string message, std::string_view meaning, const Fact& then,
           const Fact& now) {
    compared_.list.add(impact, "jvp", compared_.subject, std::move(message), meaning, then, now);
  }

  void compare_slot(std::uint32_t slot, const Fact& then, const Fact& now) {
    if (!then.said() || !now.said()) return;
    const std::string input = "input " + std::to_string(slot);
    if (now.is_null() && then.present()) {
      add(Impact::numerics, "no JVP rule for " + input + ", before one",
          "the input contributes no tangent any more, and nothing raises", then, now);
    } else if (then.is_null() && now.present()) {
      add(Impact::numerics, "a JVP rule for " + input + ", before none",
          "the input contributes a tangent now: gradients change", then, now);
    } else if (!same_meaning(then, now)) {
      add(Impact::numerics, "JVP rule for " + input + ' ' + difference_text(then, now),
          "gradients may come out otherwise", then, now);
    }
  }

  void compare_tangents() {
    const FactRange before = then_[Key::tangent_operators].items();
    const FactRange after = now_[Key::tangent_operators].items();
    auto left = before.begin();
    auto right = after.begin();
    const auto text = [](const Fact& list) {
      return list.size() == 0 ? std::string("no operator") : value_text(list);
    };
    for (std::uint32_t slot = 0; left != before.end() && right != after.end();
         ++left, ++right, ++slot) {
      const Fact then = *left;
      const Fact now = *right;
      if (!then.is_list() || !now.is_list() || same_meaning(then, now)) continue;
      add(Impact::numerics,
          "JVP rule of input " + std::to_string(slot) + " feeds the tangent to " + text(now) +
              ", before to " + text(then),
          "gradients may come out otherwise", then, now);
    }
  }

  // A rule more or less than there are inputs was never called.
  void compare_count() {
    const std::uint32_t before = then_[Key::rules].size();
    const std::uint32_t after = now_[Key::rules].size();
    if (before == after) return;
    const Stated<CountRange> inputs = operand_count(compared_.after()[Key::inputs]);
    const Stated<CountRange> had = operand_count(compared_.before()[Key::inputs]);
    const bool surplus =
        inputs && had && std::min(before, after) >= std::max(inputs->max, had->max);
    Change& change = compared_.list.add(
        surplus ? Impact::additive : Impact::numerics, "jvp", compared_.subject,
        plural(after, "JVP rule") + ", before " + std::to_string(before),
        surplus ? "no gradient changes: a rule beyond the inputs was never called"
                : "inputs without a rule contribute no tangent",
        then_[Key::rules], now_[Key::rules]);
    if (surplus) change.bump = Bump::patch;
  }

  const Compared& compared_;
  Fact then_;
  Fact now_;
};

constexpr Judged jvp_rows[] = {
    {.key = Key::function, .worse = {Impact::numerics, "gradients may come out otherwise"}},
    {.key = Key::leading,
     .worse = {Impact::breaking, "code that calls the rules passes other arguments"}},
};

void compare_jvp(const Compared& compared) {
  if (!compared.list.both(compared.before(), compared.after(), Key::jvp)) return;
  const Fact then = compared.before()[Key::jvp];
  const Fact now = compared.after()[Key::jvp];
  if (now.is_null() != then.is_null()) {
    const bool lost = now.is_null();
    compared.list.add(
        lost ? Impact::breaking : Impact::additive, "jvp", compared.subject,
        lost ? "no JVP, before " + quote(then[Key::kind].text())
             : "JVP " + quote(now[Key::kind].text()) + ", before none",
        lost ? "differentiating through it fails" : "it can be differentiated through", then, now);
  } else if (now[Key::kind].name() != then[Key::kind].name()) {
    compared.list.add(
        Impact::numerics, "jvp", compared.subject,
        "JVP " + quote(now[Key::kind].text()) + ", before " + quote(then[Key::kind].text()),
        "gradients may come out otherwise", then, now);
  } else {
    if (now[Key::kind].is("per_input")) Slots(compared).compare();
    compare_members({compared.list, compared.subject, "jvp", {}, " of the JVP"}, jvp_rows, then,
                    now);
  }
}

}  // namespace

void compare_differentiation(const Compared& compared) {
  compare_jvp(compared);
  compare_functions(compared);
  compare_mark(compared);
}

}  // namespace opseal
