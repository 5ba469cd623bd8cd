#include <algorithm>
#include <string>
#include <string_view>

#include "opseal/rule.h"
#include "rules/condition_texts.h"
#include "rules/dispatch_kinds.h"

namespace opseal {
namespace {

constexpr std::string_view source = "$->src[";

// It speaks of one operand alone: what relates several may hold however they were made.
bool is_of_one_operand(std::string_view text) {
  std::string_view first;
  for (std::size_t at = text.find('$'); at != text.npos; at = text.find('$', at + 1)) {
    if (text.substr(at, source.size()) != source) return false;
    const std::string_view index = text.substr(at, text.find(']', at) - at);
    if (first.empty()) first = index;
    if (index != first) return false;
  }
  return !first.empty();
}

// A function gets an operand, and may ask it anything: `fits($->src[0])`.
bool hands_on_operand(const Fact& conditions) {
  for (const Fact condition : conditions.items()) {
    const std::string_view text = condition.text();
    for (std::size_t at = text.find(source); at != text.npos; at = text.find(source, at + 1)) {
      const std::string_view rest = text.substr(std::min(text.find(']', at), text.size()));
      if (rest.starts_with("])") || rest.starts_with("],")) return true;
    }
  }
  return false;
}

// Whether the predicate, which could ask the same, asks nothing of the kind. The dtypes of further
// operands are mostly what the operator's own constructor insists on.
bool is_unasked(std::string_view part, const Fact& conditions) {
  if (!is_of_one_operand(part)) return false;
  if (part.find("contiguous") != part.npos) {
    return !asks_for(conditions, "contiguous") && !asks_for(conditions, "->nb[") &&
           !asks_for(conditions, "permuted") && !asks_for(conditions, "transposed");
  }
  return part.starts_with("$->src[0]->type==") && !asks_for(conditions, "type");
}

void check_entry(const Fact& dispatch, const Fact& entry, const Fact& always, Sink& sink) {
  const Fact predicate = dispatch[Key::predicate];
  const Fact conditions = predicate[Key::conditions].at(entry[Key::kind].text());
  if (!says_conditions(conditions)) return;
  sink.inspected();
  if (hands_on_operand(conditions)) return;
  std::string texts;
  Fact first;
  for (const Fact assert : entry[Key::asserts].items()) {
    for (const std::string_view part : conjuncts(assert.text())) {
      if (!is_unasked(part, conditions)) continue;
      if (!first.said()) first = assert;
      texts += (texts.empty() ? "" : ", ") + quote(part);
    }
  }
  if (texts.empty()) return;
  Finding& finding = sink.add(dispatch_subject(dispatch),
                              "the predicate accepts every " + quote(entry[Key::kind].text()) +
                                  ", and " + quote(entry[Key::kernel].text()) + " asserts " + texts,
                              evidence(always, "accepted here" + part_site(predicate)));
  finding.related.push_back(evidence(first, "asserted here"));
}

void check(const Facts& facts, Sink& sink) {
  for_each_dispatch(facts, [&sink](const Fact& dispatch) {
    const Fact accepted = dispatch[Key::predicate][Key::always];
    if (!accepted.is_list()) return;
    for (const Fact entry : dispatch[Key::table][Key::entries].items()) {
      if (entry[Key::asserts].size() == 0 || !entry[Key::kind].is_text()) continue;
      for (const Fact always : accepted.items()) {
        if (always.text() == entry[Key::kind].text()) check_entry(dispatch, entry, always, sink);
      }
    }
  });
}

}  // namespace

extern constinit const Rule predicate_constant{
    .id = "predicate-constant",
    .title = "support predicate asks nothing where the kernel asserts something",
    .rationale =
        "The kernel takes only operands of one dtype or without gaps, and ends the program for any "
        "other. The predicate, whose task is to say so before work is placed, says yes to all of "
        "them, so the scheduler never looks for a backend that could do it. In messages `$` stands "
        "for "
        "the operation that is asked about.",
    .example =
        R"({"operator": "op", "backend": "gpu", "predicate": {"kinds": ["NORM"], "always": ["NORM"], "conditions": {"NORM": []}},)"
        R"( "table": {"entries": [{"kind": "NORM", "kernel": "norm", "asserts": ["$->src[0]->type==F32"]}]
}
})",
    .fix = "let the predicate ask what the kernel asserts",
    .severity = Severity::warning,
    .profile = Profile::strict,
    .inspects =
        "kind that a predicate accepts whatever its operands are, with what its kernel asserts",
    .needs = {Key::predicate, Key::always, Key::conditions, Key::asserts},
    .check = check,
};

}  // namespace opseal
