// Inputs, outputs and attributes of one operator, where no schema text says them better.

#include <algorithm>
#include <map>
#include <string>

#include "compare/change_members.h"
#include "opseal/text.h"
#include "rules/served_dtypes.h"

namespace opseal {
namespace {

std::vector<std::string> texts(const std::vector<ServedDtypes::Entry>& entries) {
  std::vector<std::string> out;
  for (const ServedDtypes::Entry& entry : entries) out.push_back(entry.text);
  return out;
}

void compare_dtypes(const Compared& compared, const std::string& what, const Fact& then,
                    const Fact& now) {
  const ServedDtypes old_served = dtypes_of(then);
  const ServedDtypes served = dtypes_of(now);
  if (!old_served.complete || !served.complete) return;
  const std::vector<ServedDtypes::Entry> lost = lacking(old_served, served);
  const std::vector<ServedDtypes::Entry> gained = lacking(served, old_served);
  if (!lost.empty()) {
    compared.list.add(Impact::breaking, "dtypes", compared.subject,
                      what + " lost " + quote_list(texts(lost)),
                      "calls with these dtypes are refused", lost.front().where, now);
  }
  if (!gained.empty()) {
    compared.list.add(Impact::additive, "dtypes", compared.subject,
                      what + " gained " + quote_list(texts(gained)),
                      "it can be called with more dtypes", then, gained.front().where);
  }
}

constexpr Judgement refused{Impact::breaking, "callers that pass the old one are refused"};
constexpr Judgement misread{Impact::breaking, "buffers that are laid out the old way are misread"};
constexpr Judgement sharing{Impact::numerics,
                            "writing to one may write to the other, or no longer"};

// A bound that is `null` is none.
constexpr Judged operand_rows[] = {
    {.key = Key::rank,
     .worse_if = Worse::gone,
     .worse = {Impact::additive, "any number of axes may be passed"},
     .better = refused},
    {.key = Key::shape,
     .worse_if = Worse::gone,
     .worse = {Impact::additive, "any shape may be passed"},
     .better = refused},
    {.key = Key::strides,
     .worse_if = Worse::gone,
     .worse = {Impact::additive, "any strides may be passed"},
     .better = misread},
    {.key = Key::layout, .worse = misread},
    {.key = Key::differentiable,
     .worse_if = Worse::lower,
     .worse = {Impact::numerics, "no gradient flows to it any more"},
     .better = {Impact::numerics, "a gradient flows to it now"}},
};

// What schema texts say as well.
constexpr Judged schema_rows[] = {
    {.key = Key::alias, .worse = sharing},
    {.key = Key::optional,
     .worse_if = Worse::lower,
     .worse = {Impact::breaking, "callers that leave it out fail"},
     .better = {Impact::additive, "it can be left out"}},
    {.key = Key::variadic,
     .worse_if = Worse::lower,
     .worse = {Impact::breaking, "callers that pass several fail"},
     .better = {Impact::additive, "several can be passed"}},
};

constexpr Judged type_row[] = {
    {.key = Key::type,
     .worse = {Impact::breaking, "callers that pass the old type may be refused"}},
};

// Bounds that both dumps have, each its own.
constexpr Judged bound_rows[] = {
    {.key = Key::rank, .worse = refused},
    {.key = Key::shape, .worse = refused},
    {.key = Key::strides, .worse = misread},
};

void compare_written(const Compared& compared, const std::string& what, const Fact& then,
                     const Fact& now) {
  if (!then.said() || !now.said() || then.truth() == now.truth()) return;
  const bool written = now.truth();
  compared.list.add(
      Impact::breaking, "mutation", compared.subject,
      what + (written ? " is written" : " is not written any more"),
      written ? "callers find another value in it" : "callers no longer find the result in it",
      then, now);
}

// A type variable is what it stands for, whatever its name.
void compare_types(const Compared& compared, const std::string& what, const Fact& then,
                   const Fact& now) {
  const Fact old_variable = compared.before()[Key::type_constraints].at(then[Key::type].text());
  const Fact variable = compared.after()[Key::type_constraints].at(now[Key::type].text());
  if (!old_variable.is_list() || !variable.is_list()) {
    compare_members({compared.list, compared.subject, "operand", {}, " of " + what}, type_row, then,
                    now);
  } else if (!same_meaning(then[Key::type], now[Key::type])) {
    compare_dtypes(compared, what, old_variable, variable);
  }
}

// What no schema text says.
void compare_bounds(const Compared& compared, const std::string& what, const Fact& then,
                    const Fact& now) {
  if (then[Key::dtypes].is_list() && now[Key::dtypes].is_list())
    compare_dtypes(compared, what, then[Key::dtypes], now[Key::dtypes]);
  const JudgedItem item{compared.list, compared.subject, "operand", {}, " of " + what};
  compare_members(item, operand_rows, then, now);
  for (const Judged& row : bound_rows) {
    if (then[row.key].present() && now[row.key].present())
      compare_members(item, {&row, 1}, then, now);
  }
}

void compare_operand(const Compared& compared, const std::string& what, const Fact& then,
                     const Fact& now) {
  if (then[Key::name].is_text() && now[Key::name].is_text() &&
      then[Key::name].name() != now[Key::name].name()) {
    compared.list.add(Impact::breaking, "operand-name", compared.subject,
                      what + " is named " + value_text(now[Key::name]) + ", before " +
                          value_text(then[Key::name]),
                      "callers that pass it by name fail", then[Key::name], now[Key::name]);
  }
  compare_bounds(compared, what, then, now);
  compare_members({compared.list, compared.subject, "operand", {}, " of " + what}, schema_rows,
                  then, now);
  compare_types(compared, what, then, now);
  compare_written(compared, what, then[Key::mutated], now[Key::mutated]);
}

std::vector<std::string_view> names_of(const Fact& operands) {
  std::vector<std::string_view> names;
  for (const Fact operand : operands.items()) names.push_back(operand[Key::name].text());
  return names;
}

// The same names, each once, in another order.
bool is_reordered(const std::vector<std::string_view>& then,
                  const std::vector<std::string_view>& now) {
  if (then == now) return false;
  std::vector<std::string_view> left = then;
  std::vector<std::string_view> right = now;
  std::sort(left.begin(), left.end());
  std::sort(right.begin(), right.end());
  return left == right && std::adjacent_find(left.begin(), left.end()) == left.end();
}

std::string order_text(const std::vector<std::string_view>& names) {
  return quote_list(std::vector<std::string>(names.begin(), names.end()), names.size());
}

void compare_reordered(const Compared& compared, std::string_view noun, const Fact& before,
                       const Fact& after) {
  compared.list.add(
      Impact::breaking, "operand-order", compared.subject,
      plural(2, noun).substr(2) + " stand in another order: " + order_text(names_of(after)) +
          ", before " + order_text(names_of(before)),
      noun == "input" ? "callers that pass them by position pass the wrong ones, and nothing "
                        "raises where both are taken"
                      : "callers that take them by position take the wrong ones",
      before, after);
  const auto then = by_text(before, Key::name);
  for (const Fact now : after.items()) {
    const std::string_view name = now[Key::name].text();
    compare_operand(compared, std::string(noun) + ' ' + quote(name), then.at(name), now);
  }
}

using CompareOne = void (*)(const Compared&, const std::string&, const Fact&, const Fact&);

// Lists of another length, or of which a schema text has told what is where: operands that both
// have by name, or where some have none, those at the same place.
void compare_common(const Compared& compared, std::string_view noun, const Fact& before,
                    const Fact& after, CompareOne compare) {
  const auto then = by_text(before, Key::name);
  const bool named =
      then.size() == before.size() && by_text(after, Key::name).size() == after.size();
  const FactRange left = before.items();
  auto other = left.begin();
  std::uint32_t number = 0;
  for (const Fact now : after.items()) {
    Fact old;
    if (named) {
      const auto found = then.find(now[Key::name].text());
      if (found != then.end()) old = found->second;
    } else if (other != left.end()) {
      old = *other;
      ++other;
    }
    const std::string what =
        std::string(noun) + ' ' + (named ? quote(now[Key::name].text()) : std::to_string(number));
    if (old.said() && now.said()) compare(compared, what, old, now);
    ++number;
  }
}

void compare_list(const Compared& compared, Key key, std::string_view noun, bool schema_told) {
  if (!compared.list.both(compared.before(), compared.after(), key)) return;
  const Fact then = compared.before()[key];
  const Fact now = compared.after()[key];
  if (schema_told) {
    if (then.is_list() && now.is_list()) compare_common(compared, noun, then, now, compare_bounds);
    return;
  }
  const Stated<CountRange> old_count = operand_count(then);
  const Stated<CountRange> count = operand_count(now);
  if (old_count && count && (old_count->min != count->min || old_count->max != count->max)) {
    const bool wider = count->min <= old_count->min && count->max >= old_count->max;
    const bool inputs = key == Key::inputs;
    compared.list.add(wider && inputs ? Impact::additive : Impact::breaking, to_text(key),
                      compared.subject,
                      (inputs ? "takes " : "returns ") + to_text(*count, noun) + ", before " +
                          to_text(*old_count, noun),
                      !inputs ? "callers unpack another number of results"
                      : wider ? "old calls still work"
                              : "callers that pass the old number fail",
                      then, now);
    if (then.is_list() && now.is_list()) compare_common(compared, noun, then, now, compare_operand);
    return;
  }
  if (!then.is_list() || !now.is_list()) return;
  if (is_reordered(names_of(then), names_of(now))) {
    compare_reordered(compared, noun, then, now);
    return;
  }
  const FactRange left = then.items();
  const FactRange right = now.items();
  auto other = right.begin();
  std::uint32_t number = 0;
  for (const Fact operand : left) {
    if (other == right.end()) return;
    if (operand.said() && (*other).said()) {
      compare_operand(compared, std::string(noun) + ' ' + std::to_string(number), operand, *other);
    }
    ++other;
    ++number;
  }
}

void compare_attributes(const Compared& compared) {
  if (!compared.list.both(compared.before(), compared.after(), Key::attributes)) return;
  const Fact then = compared.before()[Key::attributes];
  const Fact now = compared.after()[Key::attributes];
  std::map<std::string_view, std::pair<Fact, Fact>> attributes;
  for (const Fact one : then.items()) attributes[one[Key::name].text()].first = one;
  for (const Fact one : now.items()) attributes[one[Key::name].text()].second = one;
  const bool known = all_read(then) && all_read(now);
  for (const auto& [name, pair] : attributes) {
    const auto& [old_one, one] = pair;
    const std::string what = "attribute " + quote(name);
    if (!one.said() && known) {
      compared.list.add(Impact::breaking, "attribute", compared.subject, "no " + what + " any more",
                        "callers that pass it fail", old_one, now);
    } else if (!old_one.said() && known) {
      compared.list.add(Impact::additive, "attribute", compared.subject, "new " + what,
                        "old calls work where it has a default", then, one);
    } else if (old_one[Key::type].is_text() && one[Key::type].is_text() &&
               old_one[Key::type].name() != one[Key::type].name()) {
      compared.list.add(Impact::breaking, "attribute", compared.subject,
                        what + " is a " + value_text(one[Key::type]) + ", before a " +
                            value_text(old_one[Key::type]),
                        "callers that pass the old type may be refused", old_one, one);
    }
  }
}

}  // namespace

void compare_operands(const Compared& compared, bool schema_told) {
  compare_list(compared, Key::inputs, "input", schema_told);
  compare_list(compared, Key::outputs, "output", schema_told);
  if (!schema_told) compare_attributes(compared);
  if (compared.list.both(compared.before(), compared.after(), Key::type_constraints)) {
    compare_dtypes(compared, "the schema", compared.before()[Key::type_constraints],
                   compared.after()[Key::type_constraints]);
  }
}

}  // namespace opseal
