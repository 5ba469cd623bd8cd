#include "cli/comments.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "cli/place_names.h"
#include "cli/places.h"
#include "cli/settings.h"
#include "opseal/registration.h"
#include "opseal/sources.h"
#include "opseal/text.h"
#include "rules/rules.h"

namespace opseal {
namespace {

struct Comment {
  // Of `exceptions`.
  Fact fact;
  Location where;
  std::string rule;
  std::string reason;
  // Of a dump: JSON pointers, sorted.
  std::vector<std::string> covered{};
  // Of a source: the lines of the comment, and the last one of which it speaks.
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

// Calls `visit(comment, of_source)` for each.
template <typename Visit>
void for_each_comment(const Facts& facts, Visit visit) {
  for (const Document& document : facts.documents) {
    for (const Fact item : facts.root(document)[Key::tree][Key::exceptions].items()) {
      visit(Comment{item, item.where(), std::string(item[Key::name].text()),
                    std::string(item[Key::reason].text())},
            item.where().file != document.file);
    }
  }
}

Comments comments_of_sources(const Facts& facts, Places& places) {
  Comments comments;
  for_each_comment(facts, [&](Comment comment, bool of_source) {
    if (!of_source) return;
    const Position position = places.position(comment.where);
    comment.first = position.line;
    comment.last = std::max(position.line, position.end_line);
    comment.alone = stands_alone(places, comment.where);
    comments[comment.where.file].push_back(std::move(comment));
  });
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

// Those of manifests that say what they speak of; of the others nobody knows.
Comments comments_of_manifests(const Facts& facts) {
  Comments comments;
  for_each_comment(facts, [&](Comment comment, bool of_source) {
    const Fact covered = comment.fact[Key::covered];
    if (of_source || !covered.said() || !all_read(covered)) return;
    comment.covered = texts_of(covered);
    std::sort(comment.covered.begin(), comment.covered.end());
    comments[comment.where.file].push_back(std::move(comment));
  });
  return comments;
}

// Silences by the comments of the finding's file that speak of it: `speaks_of(comment)`.
template <typename SpeaksOf>
void silence(std::vector<Comment>& comments, Finding& finding, SpeaksOf speaks_of) {
  for (Comment& comment : comments) {
    if (comment.rule != finding.rule->id || comment.reason.empty() || !speaks_of(comment)) continue;
    comment.used = true;
    if (!finding.silenced_by.empty()) continue;
    finding.silenced_by = "comment";
    finding.silenced_reason = comment.reason;
  }
}

void silence_in_sources(Comments& comments, Places& places, Finding& finding) {
  const auto here = comments.find(finding.evidence.where.file);
  if (here == comments.end()) return;
  const std::uint64_t line = places.position(finding.evidence.where).line;
  if (line == 0) return;
  silence(here->second, finding, [line](const Comment& comment) {
    return line >= comment.first && line <= comment.reach;
  });
}

void silence_in_manifests(Comments& comments, PlaceNames& names, Finding& finding) {
  const auto here = comments.find(finding.evidence.where.file);
  if (here == comments.end()) return;
  const std::string pointer = names.logical(finding.evidence.where);
  silence(here->second, finding, [&pointer](const Comment& comment) {
    return std::binary_search(comment.covered.begin(), comment.covered.end(), pointer);
  });
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
         (comment.fact[Key::covered].said() ? "what it speaks of"
          : comment.alone                   ? "the line below"
                                            : "this line");
}

void find_faults(const Comments& comments, const std::vector<const Rule*>& ran,
                 std::vector<Problem>& problems) {
  for (const auto& [file, list] : comments) {
    for (const Comment& comment : list) {
      std::string fault = fault_of(comment, ran);
      if (!fault.empty()) {
        problems.push_back({comment.where, std::move(fault), {}, Severity::warning});
      }
    }
  }
}

// Adds the pointer of each fact at or below `node` to the comments that speak of its line.
class CoveredWalk {
 public:
  CoveredWalk(const Comments& comments, Places& places, CoveredFacts& covered)
      : comments_(comments), places_(places), covered_(covered) {}

  // Facts of sources are a few levels deep.
  void visit(const Fact& fact, const std::string& pointer) {
    add(fact, pointer);
    std::size_t index = 0;
    for (const Fact item : fact.items()) {
      const bool member = fact.is_object();
      // What a comment itself says is nothing that it could accept.
      if (item.key() == Key::tree || item.key() == Key::extension) continue;
      visit(item,
            pointer + '/' + (member ? std::string(to_text(item.key())) : std::to_string(index++)));
    }
    for (const auto [name, value] : fact.entries()) {
      visit(value, pointer + '/' + pointer_token(name.text()));
    }
  }

 private:
  void add(const Fact& fact, const std::string& pointer) {
    const Location where = fact.where();
    const auto here = comments_.find(where.file);
    if (here == comments_.end()) return;
    const std::uint64_t line = places_.position(where).line;
    const std::vector<Comment>& list = here->second;
    auto after = std::upper_bound(
        list.begin(), list.end(), line,
        [](std::uint64_t wanted, const Comment& comment) { return wanted < comment.first; });
    // Where one doesn't reach the line, those above it don't either.
    while (after != list.begin() && (--after)->reach >= line) {
      covered_[after->fact.index()].push_back(pointer);
    }
  }

  const Comments& comments_;
  Places& places_;
  CoveredFacts& covered_;
};

}  // namespace

CoveredFacts covered_facts(const Facts& facts, const std::vector<const Document*>& documents,
                           Places& places) {
  CoveredFacts covered;
  const Comments comments = comments_of_sources(facts, places);
  if (comments.empty()) return covered;
  for (const auto& [file, list] : comments) {
    for (const Comment& comment : list) covered[comment.fact.index()];
  }
  CoveredWalk walk(comments, places, covered);
  for (std::size_t at = 0; at < documents.size(); ++at) {
    const Fact manifest = facts.root(*documents[at]);
    if (!is_of_sources(manifest)) continue;
    walk.visit(manifest, documents.size() == 1 ? "" : '/' + std::to_string(at));
  }
  return covered;
}

void settle_comments(const std::vector<const Rule*>& ran, Facts& facts,
                     std::vector<Finding>& findings) {
  std::vector<Problem> problems;
  {
    Places places(facts);
    PlaceNames names(facts);
    Comments of_sources = comments_of_sources(facts, places);
    Comments of_manifests = comments_of_manifests(facts);
    for (Finding& finding : findings) {
      silence_in_sources(of_sources, places, finding);
      silence_in_manifests(of_manifests, names, finding);
    }
    find_faults(of_sources, ran, problems);
    find_faults(of_manifests, ran, problems);
  }
  for (Problem& problem : problems) facts.problems.push_back(std::move(problem));
}

}  // namespace opseal
