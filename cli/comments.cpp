#include "cli/comments.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "cli/places.h"
#include "cli/settings.h"
#include "opseal/text.h"
#include "rules/rules.h"

namespace opseal {
namespace {

struct Comment {
  Location where;
  std::string rule;
  std::string reason;
  // The lines of the comment, and the last one of which it speaks.
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t reach = 0;
  bool alone = false;
  bool used = false;
};

// By file, in the order of their places.
using Comments = std::map<std::uint32_t, std::vector<Comment>>;

// Code before it is what it speaks of.
bool stands_alone(Places& places, const Location& where) {
  constexpr std::size_t width = 400;
  const Places::Excerpt excerpt = places.excerpt(where, width);
  const std::size_t text = excerpt.text.find_first_not_of(" \t");
  return text != std::string::npos && text >= excerpt.caret;
}

Comments comments_of(const Facts& facts, Places& places) {
  Comments comments;
  for (const Document& document : facts.documents) {
    for (const Fact item : facts.root(document)[Key::tree][Key::exceptions].items()) {
      // A manifest repeats what some comment elsewhere said.
      if (item.where().file == document.file) continue;
      Comment comment{item.where(), std::string(item[Key::name].text()),
                      std::string(item[Key::reason].text())};
      const Position position = places.position(comment.where);
      comment.first = position.line;
      comment.last = std::max(position.line, position.end_line);
      comment.alone = stands_alone(places, comment.where);
      comments[comment.where.file].push_back(std::move(comment));
    }
  }
  for (auto& [file, list] : comments) {
    std::stable_sort(list.begin(), list.end(), [](const Comment& a, const Comment& b) {
      return a.where.offset < b.where.offset;
    });
    // From below, so that each of several in a row reaches as far as the last.
    for (std::size_t at = list.size(); at-- > 0;) {
      Comment& comment = list[at];
      comment.reach = comment.alone ? comment.last + 1 : comment.last;
      if (!comment.alone || at + 1 == list.size()) continue;
      const Comment& next = list[at + 1];
      if (next.first <= comment.reach) comment.reach = std::max(comment.reach, next.reach);
    }
  }
  return comments;
}

void silence(Comments& comments, Places& places, Finding& finding) {
  const auto here = comments.find(finding.evidence.where.file);
  if (here == comments.end()) return;
  const std::uint64_t line = places.position(finding.evidence.where).line;
  if (line == 0) return;
  for (Comment& comment : here->second) {
    if (comment.rule != finding.rule->id || comment.reason.empty()) continue;
    if (line < comment.first || line > comment.reach) continue;
    comment.used = true;
    if (!finding.silenced_by.empty()) continue;
    finding.silenced_by = "comment";
    finding.silenced_reason = comment.reason;
  }
}

// Empty where nothing is wrong.
std::string fault_of(const Comment& comment, const std::vector<const Rule*>& ran) {
  const std::string said = "`opseal: ignore(" + comment.rule + ")`";
  if (comment.rule.empty()) {
    return "`opseal: ignore` names no rule, expected `opseal: ignore(rule): reason`";
  }
  if (find_rule(comment.rule) == nullptr) return said + ": " + no_such_rule(comment.rule);
  if (comment.reason.empty()) {
    return said + " gives no reason and silences nothing, expected `opseal: ignore(rule): reason`";
  }
  const bool was_run = std::any_of(
      ran.begin(), ran.end(), [&comment](const Rule* rule) { return rule->id == comment.rule; });
  if (comment.used || !was_run) return {};
  return said + " silences nothing: the rule has no finding at " +
         (comment.alone ? "the line below" : "this line");
}

}  // namespace

void settle_comments(const std::vector<const Rule*>& ran, Facts& facts,
                     std::vector<Finding>& findings) {
  std::vector<Problem> problems;
  {
    Places places(facts);
    Comments comments = comments_of(facts, places);
    if (comments.empty()) return;
    for (Finding& finding : findings) silence(comments, places, finding);
    for (const auto& [file, list] : comments) {
      for (const Comment& comment : list) {
        std::string fault = fault_of(comment, ran);
        if (!fault.empty()) {
          problems.push_back({comment.where, std::move(fault), {}, Severity::warning});
        }
      }
    }
  }
  for (Problem& problem : problems) facts.problems.push_back(std::move(problem));
}

}  // namespace opseal
