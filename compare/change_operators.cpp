// What two dumps say of one operator, but for its kernels and its signature.

#include <map>
#include <string>

#include "compare/change_members.h"
#include "opseal/text.h"

namespace opseal {
namespace {

struct Flag {
  Key key;
  // What it means that it became true, and false.
  Impact set;
  std::string_view set_meaning;
  Impact cleared;
  std::string_view cleared_meaning;
};

constexpr Flag flags[] = {
    {Key::deprecated, Impact::additive, "callers are asked to move on", Impact::additive,
     "callers may stay"},
    {Key::experimental, Impact::additive, "the operator may change without notice",
     Impact::additive, "the operator is promised to stay"},
    {Key::function_body, Impact::additive, "it works without a kernel", Impact::breaking,
     "it needs a kernel: platforms without one fail"},
    {Key::multiple_results, Impact::breaking, "callers get a list of results", Impact::breaking,
     "callers get one result, not a list"},
};

constexpr Judged rows[] = {
    {.key = Key::mutates_args,
     .worse_if = Worse::gained,
     .worse = {Impact::breaking, "callers find another value in the argument"},
     .better = {Impact::breaking,
                "callers no longer find the result in the argument, or can't tell "
                "what is written"}},
    {.key = Key::params_variants,
     .worse_if = Worse::lost,
     .worse = {Impact::breaking, "callers that name the variant fail"},
     .better = {Impact::additive, "callers can name more variants"}},
    {.key = Key::aliases,
     .worse_if = Worse::lost,
     .worse = {Impact::breaking, "code that imports it by the name fails"},
     .better = {Impact::additive, "code can import it by more names"}},
};

void compare_flags(const Compared& compared) {
  for (const Flag& flag : flags) {
    if (!compared.list.both(compared.before(), compared.after(), flag.key)) continue;
    const Fact then = compared.before()[flag.key];
    const Fact now = compared.after()[flag.key];
    if (then.truth() == now.truth()) continue;
    const bool set = now.truth();
    compared.list.add(
        set ? flag.set : flag.cleared, to_text(flag.key), compared.subject,
        quote(to_text(flag.key)) + " is " + value_text(now) + ", before " + value_text(then),
        set ? flag.set_meaning : flag.cleared_meaning, then, now);
  }
}

void compare_tags(const Compared& compared) {
  if (!compared.list.both(compared.before(), compared.after(), Key::tags)) return;
  const Fact then = compared.before()[Key::tags];
  const Fact now = compared.after()[Key::tags];
  const std::string difference = list_difference(then, now);
  if (difference.empty()) return;
  compared.list
      .add(Impact::additive, "tags", compared.subject, "tags " + difference,
           "what is looked up by tag finds other operators", then, now)
      .bump = Bump::patch;
}

void compare_batching(const Compared& compared) {
  if (!compared.list.both(compared.before(), compared.after(), Key::batching)) return;
  const Fact then = compared.before()[Key::batching];
  const Fact now = compared.after()[Key::batching];
  if (then.is_null() != now.is_null()) {
    const bool lost = now.is_null();
    compared.list.add(lost ? Impact::breaking : Impact::additive, "batching", compared.subject,
                      lost ? "no batching, before " + quote(then[Key::kind].text())
                           : "batching " + quote(now[Key::kind].text()) + ", before none",
                      lost ? "mapping it over a batch fails" : "it can be mapped over a batch",
                      then, now);
  } else if (!same_meaning(then, now)) {
    const auto text = [](const Fact& batching) {
      std::string out = quote(batching[Key::kind].text());
      if (batching[Key::counterpart].is_text())
        out += " to " + quote(batching[Key::counterpart].text());
      return out;
    };
    const bool other_kind = then[Key::kind].name() != now[Key::kind].name();
    compared.list.add(Impact::speed, "batching", compared.subject,
                      "batching " + (other_kind ? text(now) + ", before " + text(then)
                                                : difference_text(then, now)),
                      "a batch is served in another way", then, now);
  }
}

void compare_defaults(const Compared& compared) {
  if (!compared.list.both(compared.before(), compared.after(), Key::defaults)) return;
  std::map<std::string_view, std::pair<Fact, Fact>> defaults;
  for (const EntryRange::Entry entry : compared.before()[Key::defaults].entries()) {
    defaults[compared.names_before().of(entry.name).name].first = entry.value;
  }
  for (const EntryRange::Entry entry : compared.after()[Key::defaults].entries()) {
    defaults[compared.names_after().of(entry.name).name].second = entry.value;
  }
  for (const auto& [platform, values] : defaults) {
    const auto& [then, now] = values;
    const std::string head = "default on " + quote(platform);
    if (!now.said()) {
      compared.list.add(Impact::breaking, "default", compared.subject,
                        "no " + head + ", before " + value_text(then),
                        "callers have to name a backend", then, compared.after()[Key::defaults]);
    } else if (!then.said()) {
      compared.list.add(Impact::additive, "default", compared.subject,
                        head + " is " + value_text(now) + ", before none",
                        "callers need not name a backend", compared.before()[Key::defaults], now);
    } else if (!same_meaning(then, now)) {
      compared.list.add(Impact::numerics, "default", compared.subject,
                        head + " is " + value_text(now) + ", before " + value_text(then),
                        "who names no backend gets another kernel: speed and last bits may change",
                        then, now);
    }
  }
}

// The same platforms in the same order, however they are spelt.
bool same_platforms(const Compared& compared, const Fact& then, const Fact& now) {
  if (!then.is_list() || !now.is_list() || then.size() != now.size()) return false;
  const FactRange left = then.items();
  const FactRange right = now.items();
  auto other = right.begin();
  for (const Fact word : left) {
    const Platform platform = compared.names_before().of(word);
    if (!word.is_text() || !same_platform(platform, compared.names_after().of(*other)))
      return false;
    ++other;
  }
  return true;
}

void compare_fallback(const Compared& compared) {
  if (!compared.list.both(compared.before(), compared.after(), Key::fallback)) return;
  const Fact then = compared.before()[Key::fallback];
  const Fact now = compared.after()[Key::fallback];
  if (same_meaning(then, now) || same_platforms(compared, then, now)) return;
  const std::string difference = list_difference(then, now);
  const bool lost = difference.find("lost ") != difference.npos;
  compared.list.add(lost                 ? Impact::breaking
                    : difference.empty() ? Impact::speed
                                         : Impact::additive,
                    "fallback", compared.subject,
                    "falls back to " + value_text(now) + ", before to " + value_text(then) +
                        (difference.empty() ? "" : " (" + difference + ')'),
                    lost ? "calls that only it served fail"
                    : difference.empty()
                        ? "calls without a kernel of their own are tried in another order"
                        : "calls without a kernel of their own find one more often",
                    then, now);
}

// What JAX calls for, keyed by words that may be lost or gained, or mean something else.
void compare_stubs(const Compared& compared) {
  if (!compared.list.both(compared.before(), compared.after(), Key::stub_platforms)) return;
  const Fact then = compared.before()[Key::stub_platforms];
  const Fact now = compared.after()[Key::stub_platforms];
  if (same_platforms(compared, then, now)) return;
  const std::string difference = list_difference(then, now);
  if (difference.empty()) return;
  compared.list
      .add(Impact::additive, "stub-platforms", compared.subject, "stubs " + difference,
           "a call there raises with a reason of its own or no longer does", then, now)
      .bump = Bump::patch;
}

// Versions that are served up to one; the dumps say the same where the only reason is that a newer
// version of the operator came or went.
void compare_versions(const Compared& compared, const Moved& moved) {
  if (!compared.list.both(compared.before(), compared.after(), Key::versions)) return;
  const Fact then = compared.before()[Key::versions][Key::until];
  const Fact now = compared.after()[Key::versions][Key::until];
  if (!then.said() || !now.said() || same_meaning(then, now)) return;
  const auto by_successor = [&compared, &moved](const Fact& until) {
    return until.is_count() &&
           moved.contains({compared.after()[Key::namespace_].name(),
                           compared.after()[Key::name].name(), until.count() + 1});
  };
  if (by_successor(then) || by_successor(now)) return;
  const bool exact = compared.pair.after.manifest[Key::system].is("onnxruntime");
  const auto last = [exact](const Fact& versions) -> std::uint32_t {
    const Fact until = versions[Key::until];
    return until.is_count() ? until.count() : exact ? versions[Key::since].count() : 0xffffffff;
  };
  const std::uint32_t old_last = last(compared.before()[Key::versions]);
  const std::uint32_t new_last = last(compared.after()[Key::versions]);
  if (old_last == new_last) return;
  const bool fewer = new_last < old_last;
  compared.list.add(
      fewer ? Impact::breaking : Impact::additive, "versions", compared.subject,
      "serves versions " + end_text(compared.after()[Key::versions], exact) + ", before " +
          end_text(compared.before()[Key::versions], exact),
      fewer ? "models of the versions behind that are not served" : "models of more versions run",
      then, now);
}

}  // namespace

void compare_operator(const Compared& compared, const Moved& moved) {
  compare_operands(compared, compare_schemas(compared));
  compare_differentiation(compared);
  compare_versions(compared, moved);
  compare_flags(compared);
  compare_members({compared.list, compared.subject, {}, {}, {}}, rows, compared.before(),
                  compared.after());
  compare_batching(compared);
  compare_kernels(compared);
  compare_defaults(compared);
  compare_fallback(compared);
  compare_stubs(compared);
  compare_trace_rules(compared);
  compare_tags(compared);
}

}  // namespace opseal
