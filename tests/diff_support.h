#pragma once

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "compare/changes.h"
#include "tests/support.h"

namespace opseal::test {

inline std::string manifest_of(std::string_view facts) {
  return R"({"opseal_manifest": 1, "system": "engine", )" + std::string(facts) + "}";
}

// "impact bump subject: message" of each change.
inline std::vector<std::string> changes_of(std::string_view before, std::string_view after) {
  const Facts facts = read_two(before, after);
  REQUIRE(facts.problems.empty());
  std::vector<std::string> lines;
  for (const Change& change : find_changes(facts).list) {
    CHECK(!change.meaning.empty());
    CHECK((change.before.known() || change.after.known()));
    lines.push_back(std::string(to_text(change.impact)) + ' ' + to_text(change.bump) + ' ' +
                    change.subject + ": " + change.message);
  }
  return lines;
}

// The one change between two operators of one name, or all of them in a row.
inline std::string change_of(std::string_view before, std::string_view after) {
  const auto op = [](std::string_view facts) {
    return manifest_of(R"("operators": [{"name": "mv", )" + std::string(facts) + "}]");
  };
  std::string text;
  for (const std::string& line : changes_of(op(before), op(after))) {
    text += (text.empty() ? "" : " / ") + line;
  }
  return text;
}

}  // namespace opseal::test
