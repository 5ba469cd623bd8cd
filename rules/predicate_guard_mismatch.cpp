#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opseal/rule.h"
#include "rules/condition_texts.h"
#include "rules/dispatch_kinds.h"

namespace opseal {
namespace {

// `expression % value == 0`, `expression <= value`.
struct Bound {
  std::string_view expression;
  bool is_modulus = false;
  std::uint64_t value = 0;
};

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

// Without a bracket that the other half of the condition closes.
std::string_view without_open_brackets(std::string_view text) {
  while (!text.empty() && (text.front() == '(' || text.front() == '!')) text.remove_prefix(1);
  while (!text.empty() && text.back() == ')' &&
         std::count(text.begin(), text.end(), '(') < std::count(text.begin(), text.end(), ')')) {
    text.remove_suffix(1);
  }
  return text;
}

// Reads one comparison. What a predicate refuses by `%32!=0` and by `>256` bounds as well.
std::optional<Bound> bound_of(std::string_view text) {
  text = without_open_brackets(text);
  if (text.ends_with("==0") || text.ends_with("!=0")) {
    const std::string_view left = without_open_brackets(text.substr(0, text.size() - 3));
    const std::size_t percent = left.rfind('%');
    if (percent == left.npos) return {};
    const auto value = number(left.substr(percent + 1));
    if (!value || *value == 0) return {};
    return Bound{left.substr(0, percent), true, *value};
  }
  const std::size_t sign = text.find_first_of("<>");
  if (sign == text.npos || sign == 0) return {};
  // A pointer's arrow is no comparison.
  std::size_t at = sign;
  while (at != text.npos && text[at] == '>' && text[at - 1] == '-') {
    at = text.find_first_of("<>", at + 1);
  }
  if (at == text.npos) return {};
  const bool equal = text.substr(at + 1, 1) == "=";
  auto value = number(text.substr(at + (equal ? 2 : 1)));
  if (!value) return {};
  // The largest that is allowed.
  if ((text[at] == '<' && !equal) || (text[at] == '>' && equal)) {
    if (*value == 0) return {};
    --*value;
  }
  return Bound{text.substr(0, at), false, *value};
}

bool is_comparable(const Bound& bound) {
  return bound.expression.find("$->") != bound.expression.npos &&
         bound.expression.find_first_of("?&|") == bound.expression.npos;
}

std::vector<std::string_view> comparisons(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (std::size_t at = 0; at + 1 < text.size(); ++at) {
    const std::string_view two = text.substr(at, 2);
    if (two != "&&" && two != "||") continue;
    parts.push_back(text.substr(begin, at - begin));
    begin = at + 2;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

struct Asked {
  // Asked for with something else than a number, or the kernel's bound follows from it.
  bool may_suffice = false;
  std::uint64_t value = 0;
  Fact where;
};

Asked asked_for(const Bound& wanted, const Fact& conditions) {
  Asked asked;
  for (const Fact condition : conditions.items()) {
    for (const std::string_view part : comparisons(condition.text())) {
      if (part.find(wanted.expression) == part.npos) continue;
      const std::optional<Bound> bound = bound_of(part);
      // `x!=$->ne[0]` says what it likes of the expression; of another bound nothing follows.
      if (!bound || bound->expression != wanted.expression) {
        asked.may_suffice = true;
      } else if (bound->is_modulus == wanted.is_modulus) {
        const bool follows =
            wanted.is_modulus ? bound->value % wanted.value == 0 : bound->value <= wanted.value;
        asked.may_suffice = asked.may_suffice || follows;
        asked.value = bound->value;
        asked.where = condition;
      }
    }
  }
  return asked;
}

void check_entry(const Fact& dispatch, const Fact& entry, Sink& sink) {
  const Fact predicate = dispatch[Key::predicate];
  const Fact conditions = predicate[Key::conditions].at(entry[Key::kind].text());
  if (!says_conditions(conditions)) return;
  sink.inspected();
  for (const Fact assert : entry[Key::asserts].items()) {
    for (const std::string_view part : conjuncts(assert.text())) {
      // A kernel that takes either of two things is told by none of them.
      if (part.find("||") != part.npos || part.find("!=") != part.npos) continue;
      const std::optional<Bound> wanted = bound_of(part);
      if (!wanted || !is_comparable(*wanted)) continue;
      if (!wanted->is_modulus && part.find('<') == part.npos) continue;
      const Asked asked = asked_for(*wanted, conditions);
      if (asked.may_suffice || !asked.where.said()) continue;
      const std::string sign = wanted->is_modulus ? " multiple of " : " at most ";
      Finding& finding = sink.add(
          dispatch_subject(dispatch),
          "for " + quote(entry[Key::kind].text()) + " the predicate accepts " +
              quote(wanted->expression) + sign + std::to_string(asked.value) + ", and " +
              quote(entry[Key::kernel].text()) + " asserts" + sign + std::to_string(wanted->value),
          evidence(asked.where, "asked here" + part_site(predicate)));
      finding.related.push_back(evidence(assert, "asserted here"));
    }
  }
}

void check(const Facts& facts, Sink& sink) {
  for_each_dispatch(facts, [&sink](const Fact& dispatch) {
    if (!dispatch[Key::predicate][Key::conditions].is_map()) return;
    for (const Fact entry : dispatch[Key::table][Key::entries].items()) {
      if (entry[Key::asserts].size() > 0 && entry[Key::kind].is_text()) {
        check_entry(dispatch, entry, sink);
      }
    }
  });
}

}  // namespace

extern constinit const Rule predicate_guard_mismatch{
    .id = "predicate-guard-mismatch",
    .title = "support predicate and kernel draw a bound at different numbers",
    .rationale =
        "The predicate refuses rows whose length is no multiple of one number, and the kernel "
        "asserts that it is a multiple of another. One of the two was changed and the other "
        "forgotten: what lies between them is placed on the backend and ends the program there. In "
        "messages `$` stands for the operation that is asked about.",
    .example =
        R"({"operator": "op", "backend": "gpu", "predicate": {"kinds": ["GET_ROWS"], "conditions": {"GET_ROWS": ["$->src[0]->ne[0]%32==0"]}},)"
        R"( "table": {"entries": [{"kind": "GET_ROWS", "kernel": "get_rows", "asserts": ["$->src[0]->ne[0]%64==0"]}]}})",
    .fix = "give both the same number, better from one constant",
    .severity = Severity::warning,
    .inspects = "kind with the conditions of its predicate and the assertions of its kernel",
    .needs = {Key::dispatch, Key::predicate, Key::conditions, Key::asserts},
    .check = check,
};

}  // namespace opseal
