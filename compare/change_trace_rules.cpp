// The eligibility-trace rules of one operator.

#include "compare/change_members.h"
#include "opseal/text.h"

namespace opseal {
namespace {

using enum Impact;

constexpr Judgement layout{
    breaking, "code that lays out parameters or calls the rules by name has to follow"};
constexpr Judgement traces{numerics, "eligibility traces may be computed in another way"};
constexpr Judgement batch{speed, "a batch is served in another way"};

constexpr Judged rows[] = {
    {.key = Key::trainables, .worse = layout},
    {.key = Key::trainables_without_bias, .worse = layout},
    {.key = Key::x_index, .worse = layout},
    {.key = Key::y_index, .worse = layout},
    {.key = Key::spelling, .worse = layout},
    {.key = Key::trainables_explicit, .worse = traces},
    {.key = Key::batched, .worse = traces},
    {.key = Key::gradient_enabled, .worse = traces},
    {.key = Key::fast_path, .worse = traces},
    {.key = Key::snap_anchor, .worse = traces},
    {.key = Key::snap_adjacency, .worse = traces},
    {.key = Key::instant, .worse = traces},
    {.key = Key::solve, .worse = traces},
    {.key = Key::x_representation, .worse = traces},
    {.key = Key::implementation, .worse = traces},
    {.key = Key::x_dtypes,
     .worse_if = Worse::lost,
     .worse = {breaking, "learning from inputs of these dtypes fails"},
     .better = {additive, "it can learn from inputs of more dtypes"}},
};

constexpr Judged counterpart_row[] = {{.key = Key::counterpart, .worse = batch}};

constexpr Judgement lost_rule{breaking, "learning with it fails"};
constexpr Judgement new_rule{additive, "it can be learned with"};
constexpr Judged rule_rows[] = {
    {Key::rules, Key::dt_to_t, Worse::gone, lost_rule, new_rule},
    {Key::rules, Key::xy_to_dw, Worse::gone, lost_rule, new_rule},
    {Key::rules, Key::init_drtrl, Worse::gone, lost_rule, new_rule},
    {Key::rules, Key::init_pp, Worse::gone, lost_rule, new_rule},
};

// Rules that both dumps have, each its own.
void compare_functions(const Compared& compared, const Fact& before, const Fact& after,
                       bool respelled) {
  for (const Fact then : before.items()) {
    const Fact now = after[then.key()];
    // The functions of the first rule are named after its spelling, which is told by itself.
    if (then.key() == Key::dt_to_t && respelled) continue;
    if (!then.present() || !now.present() || same_meaning(then, now)) continue;
    compared.list.add(
        traces.impact, "etp", compared.subject,
        quote("etp.rules." + std::string(to_text(then.key()))) + ' ' + difference_text(then, now),
        traces.meaning, then, now);
  }
}

}  // namespace

void compare_trace_rules(const Compared& compared) {
  if (!compared.list.both(compared.before(), compared.after(), Key::etp)) return;
  const Fact then = compared.before()[Key::etp];
  const Fact now = compared.after()[Key::etp];
  const JudgedItem item{compared.list, compared.subject, "etp", {}, " of `etp`"};
  compare_members(item, rows, then, now);
  compare_members(item, rule_rows, then, now);
  compare_functions(compared, then[Key::rules], now[Key::rules],
                    !same_meaning(then[Key::spelling], now[Key::spelling]));
  // `batching` says it too.
  if (!compared.before()[Key::batching].said() || !compared.after()[Key::batching].said())
    compare_members(item, counterpart_row, then, now);
}

}  // namespace opseal
