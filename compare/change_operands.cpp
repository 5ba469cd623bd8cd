// Inputs, outputs and attributes of one operator, where no schema text says them better.

#include <map>
#include <string>

#include "compare/change_list.h"
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

void compare_operand(const Compared& compared, const std::string& what, const Fact& then,
                     const Fact& now) {
  if (then[Key::name].is_text() && now[Key::name].is_text() &&
      then[Key::name].name() != now[Key::name].name()) {
    compared.list.add(Impact::breaking, "operand-name", compared.subject,
                      what + " is named " + value_text(now[Key::name]) + ", before " +
                          value_text(then[Key::name]),
                      "callers that pass it by name fail", then[Key::name], now[Key::name]);
  }
  if (then[Key::dtypes].is_list() && now[Key::dtypes].is_list())
    compare_dtypes(compared, what, then[Key::dtypes], now[Key::dtypes]);
  if (then[Key::mutated].said() && now[Key::mutated].said() &&
      then[Key::mutated].truth() != now[Key::mutated].truth()) {
    const bool written = now[Key::mutated].truth();
    compared.list.add(
        Impact::numerics, "mutation", compared.subject,
        what + (written ? " is written" : " is not written any more"),
        written ? "callers find another value in it" : "callers no longer find the result in it",
        then[Key::mutated], now[Key::mutated]);
  }
}

void compare_list(const Compared& compared, Key key, std::string_view noun) {
  if (!compared.list.both(compared.before(), compared.after(), key)) return;
  const Fact then = compared.before()[key];
  const Fact now = compared.after()[key];
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
    return;
  }
  const FactRange left = then.items();
  const FactRange right = now.items();
  if (!then.is_list() || !now.is_list()) return;
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

void compare_operands(const Compared& compared) {
  compare_list(compared, Key::inputs, "input");
  compare_list(compared, Key::outputs, "output");
  compare_attributes(compared);
  if (compared.list.both(compared.before(), compared.after(), Key::type_constraints)) {
    compare_dtypes(compared, "the schema", compared.before()[Key::type_constraints],
                   compared.after()[Key::type_constraints]);
  }
}

}  // namespace opseal
