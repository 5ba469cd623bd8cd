// What two dumps say of one kernel, but for what it takes.

#include "compare/change_members.h"
#include "opseal/text.h"
#include "rules/kernel_key.h"

namespace opseal {
namespace {

using enum Impact;

constexpr std::string_view determinism_words[] = {"bitwise", "same_hardware_bitwise",
                                                  "nondeterministic"};

constexpr Judgement other_code{speed, "other code runs: speed may change"};
constexpr Judgement weaker_promise{numerics, "its results may be further off than they were"};
constexpr Judgement stronger_promise{numerics,
                                     "its results are promised to be closer: another way "
                                     "of computing them may give other bits"};
constexpr Judgement may_fail{breaking, "calls that were right may fail or be misread"};
constexpr Judgement takes_more{additive, "more calls are right than before"};

constexpr Judged rows[] = {
    {.key = Key::symbol, .worse = other_code},
    {.key = Key::source, .worse = other_code},
    {.key = Key::generic, .worse = other_code},
    {.key = Key::target, .worse = {breaking, "stored programs call the target by its old name"}},
    {.key = Key::semantics, .worse = {numerics, "it computes something else"}},
    {.key = Key::params, .worse = {numerics, "it is another variant"}},
    {.key = Key::revision, .worse = {numerics, "the code was revised: results may change"}},
    {.key = Key::determinism,
     .worse_if = Worse::later,
     .worse = {numerics, "equal calls may give other bits than before"},
     .better = {numerics, "equal calls give equal bits more often: the bits may be others"},
     .words = determinism_words},
    {.key = Key::precision,
     .worse_if = Worse::gone,
     .worse = {numerics, "its results have no bound any more"},
     .better = {additive, "its results have a bound"}},
    {Key::precision, Key::bit_stable, Worse::lower, weaker_promise, stronger_promise},
    {Key::precision, Key::max_ulp, Worse::higher, weaker_promise, stronger_promise},
    {Key::precision, Key::max_relative, Worse::higher, weaker_promise, stronger_promise},
    {Key::precision, Key::max_absolute, Worse::higher, weaker_promise, stronger_promise},
    {Key::precision,
     Key::audited,
     Worse::lower,
     {numerics, "nobody vouches for what its results promise"},
     {additive, "somebody looked at what its results promise"}},
    {.key = Key::row_coupled,
     .worse_if = Worse::higher,
     .worse = {numerics, "a batch folded into one launch mixes rows"},
     .better = {numerics, "a batch folded into one launch keeps rows apart"}},
    {.parent = Key::launch, .key = Key::grid, .worse = {speed, "it is launched in another way"}},
    {.parent = Key::launch,
     .key = Key::vmap_method,
     .worse_if = Worse::lost,
     .worse = {breaking, "mapping it over a batch fails"},
     .better = {speed, "a batch is served in another way"}},
    {.key = Key::priority, .worse = {speed, "another kernel may be chosen"}},
    {.parent = Key::cost,
     .key = Key::known,
     .worse = {speed, "who chooses by cost may choose another kernel"}},
    {Key::capabilities, Key::strided_input, Worse::lower, may_fail, takes_more},
    {Key::capabilities, Key::requires_broadcast, Worse::higher, may_fail, takes_more},
    {Key::capabilities,
     Key::in_place,
     Worse::higher,
     {breaking, "callers' inputs are overwritten"},
     {speed, "inputs stay as they are: the result takes a buffer of its own"}},
    {Key::capabilities, Key::alignment_bytes, Worse::higher, may_fail, takes_more},
    {Key::capabilities, Key::constraints, Worse::gained, may_fail, takes_more},
    {.key = Key::failed,
     .worse_if = Worse::gained,
     .worse = {breaking, "calls with these dtypes fail"},
     .better = {additive, "calls with these dtypes work"}},
};

constexpr Judged signature_row[] = {
    {.key = Key::native_signature,
     .worse = {breaking, "code that was compiled against the old signature may be refused"}},
};
// Callers go by the operator's schema, which says by itself what it means to them.
constexpr Judged called_by_schema[] = {
    {.key = Key::native_signature, .worse = other_code},
};

// Without a list of what it takes, what it was asked for and said no to tells the rest.
constexpr Judged refusals[] = {
    {.key = Key::refused,
     .worse_if = Worse::gained,
     .worse = {breaking, "calls with these dtypes are refused"},
     .better = {additive, "it can be called with more dtypes"}},
};

// Models of the versions that it served first, and of those that it serves last.
void compare_since(const JudgedItem& item, const std::string& kernel, const Fact& before,
                   const Fact& after) {
  const Fact then = before[Key::versions][Key::since];
  const Fact now = after[Key::versions][Key::since];
  if (!then.is_count() || !now.is_count() || then.count() == now.count()) return;
  const bool fewer = now.count() > then.count();
  item.list.add(
      fewer ? breaking : additive, "versions", item.subject,
      "kernel " + kernel + " serves versions from " + value_text(now) + " on, before from " +
          value_text(then) + " on",
      fewer ? "models of the versions before that find no kernel" : "models of more versions run",
      then, now);
}

}  // namespace

void compare_kernel_members(const Compared& compared, const Fact& before, const Fact& after) {
  const std::string kernel = decision_text(after);
  const JudgedItem item{compared.list, compared.subject, {}, {}, " of kernel " + kernel};
  compare_since(item, kernel, before, after);
  compare_members(item, rows, before, after);
  const bool by_schema =
      compared.before()[Key::schema].is_text() && compared.after()[Key::schema].is_text();
  compare_members(item, by_schema ? std::span<const Judged>(called_by_schema) : signature_row,
                  before, after);
  compare_cases(compared, before, after);
  if (!before[Key::dtypes].said() && !after[Key::dtypes].said())
    compare_members(item, refusals, before, after);
}

}  // namespace opseal
