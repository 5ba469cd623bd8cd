// Where the code behind a kernel chooses by dtype, what it has cases for. Code moves between
// functions from release to release, so that one choice is known again by what it asks alone, and a
// dtype counts as lost where nothing that asks the same has a case for it any more.

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compare/change_list.h"
#include "opseal/registration.h"
#include "opseal/text.h"
#include "rules/served_dtypes.h"

namespace opseal {
namespace {

struct Choice {
  ServedDtypes cases;
  Fact where;
};

// By what is asked: `x.scalar_type()`.
std::map<std::string_view, Choice> choices_of(const Fact& kernel) {
  std::map<std::string_view, Choice> choices;
  for (const Fact dispatch : kernel[Key::dispatches].items()) {
    const Fact expression = dispatch[Key::expression];
    // What is done for some dtypes besides leaves the others as they are.
    if (!expression.is_text() || dispatch[Key::tested].truth()) continue;
    Choice& choice = choices.try_emplace(expression.text(), Choice{{}, dispatch}).first->second;
    const ServedDtypes more = dtypes_of(dispatch[Key::dtypes]);
    // Code that asks has some case: where none was found, they are written in unknown ways.
    choice.cases.complete = choice.cases.complete && more.complete && !more.entries.empty();
    for (const ServedDtypes::Entry& entry : more.entries) {
      const auto place =
          std::lower_bound(choice.cases.entries.begin(), choice.cases.entries.end(), entry,
                           [](const auto& a, const auto& b) { return a.text < b.text; });
      if (place != choice.cases.entries.end() && place->text == entry.text) continue;
      choice.cases.entries.insert(place, entry);
    }
  }
  return choices;
}

std::string texts(const std::vector<ServedDtypes::Entry>& entries) {
  std::vector<std::string> out;
  for (const ServedDtypes::Entry& entry : entries) out.push_back(entry.text);
  return quote_list(out);
}

}  // namespace

void compare_choices(ChangeList& list, const std::string& subject, const std::string& what,
                     const Fact& before, const Fact& after) {
  if (!list.both(before, after, Key::dispatches)) return;
  const std::map<std::string_view, Choice> then = choices_of(before);
  for (const auto& [expression, now] : choices_of(after)) {
    const auto found = then.find(expression);
    if (found == then.end() || !found->second.cases.complete || !now.cases.complete) continue;
    const std::string front = what + " has ";
    const std::string behind = " where it asks " + quote(expression);
    const auto lost = lacking(found->second.cases, now.cases);
    const auto gained = lacking(now.cases, found->second.cases);
    if (!lost.empty()) {
      list.add(Impact::breaking, "dtypes", subject,
               front + "no case for " + texts(lost) + " any more" + behind,
               "calls with these dtypes fail or are converted", lost.front().where, now.where);
    }
    if (!gained.empty()) {
      list.add(Impact::additive, "dtypes", subject,
               front + "a case for " + texts(gained) + behind + ", before none",
               "it can be called with more dtypes", found->second.where, gained.front().where);
    }
  }
}

void compare_cases(const Compared& compared, const Fact& before, const Fact& after) {
  compare_choices(compared.list, compared.subject, "kernel " + decision_text(after), before, after);
}

}  // namespace opseal
