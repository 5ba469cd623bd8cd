#include "tests/mutants/experiment.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "analyzers/analyzers.h"
#include "rules/rules.h"

namespace opseal::test {
namespace {

constexpr std::uint32_t seed = 20;

struct Verdict {
  std::string rule;
  std::string subject;
  std::string message;
  std::vector<Location> places;

  auto key() const { return std::tie(rule, subject, message); }
  friend bool operator<(const Verdict& a, const Verdict& b) { return a.key() < b.key(); }
};

Facts read(std::string text, const char* path) {
  InputFile input;
  input.path = path;
  input.size = text.size();
  input.bytes = std::move(text);
  return load_file(all_analyzers().front(), std::move(input));
}

// With places in the last file only.
std::vector<Verdict> judge(const Facts& facts, const std::vector<const Rule*>& rules) {
  const auto last = static_cast<std::uint32_t>(facts.files.size() - 1);
  std::vector<Finding> findings;
  run_rules(rules, facts, 1, findings);
  std::vector<Verdict> verdicts;
  for (const Problem& problem : facts.problems) {
    verdicts.push_back({"(problem)", "", problem.message, {problem.where}});
  }
  for (const Finding& finding : findings) {
    Verdict verdict{std::string(finding.rule->id), finding.subject, finding.message, {}};
    const auto note = [&](const Location& where) {
      if (where.file == last) verdict.places.push_back(where);
    };
    note(finding.evidence.where);
    for (const Evidence& other : finding.related) note(other.where);
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

Facts two_manifests(const Json& other, std::string text) {
  Facts facts = read(other.dump(), "other.json");
  facts.append(read(std::move(text), "registry.json"));
  return facts;
}

Facts two_dumps(std::string before, std::string after) {
  Facts facts = read(std::move(before), "before.json");
  for (Document& document : facts.documents) document.side = Side::before;
  Facts second = read(std::move(after), "after.json");
  for (Document& document : second.documents) document.side = Side::after;
  facts.append(std::move(second));
  return facts;
}

// The default profile of the command that runs the rule, and the rule itself.
std::vector<const Rule*> rules_for(const Rule& rule) {
  std::vector<const Rule*> rules;
  for (const Rule* candidate : all_rules()) {
    if (candidate->two_dumps != rule.two_dumps) continue;
    if (candidate->profile == Profile::standard || candidate == &rule) {
      rules.push_back(candidate);
    }
  }
  return rules;
}

class Trial {
 public:
  Trial(const Registry& registry, const Mistake& mistake, std::size_t most_places)
      : registry_(&registry),
        mistake_(&mistake),
        rule_(find_rule(mistake.rule)),
        most_places_(most_places) {
    tally_.rule = mistake.rule;
    tally_.what = mistake.what;
    tally_.registry = registry.name();
  }

  Tally run(const std::set<Verdict>& before) {
    // Each mistake has a seed of its own, so that a new one moves no other.
    Random random(seed);
    std::vector<std::size_t> order(registry_->size(mistake_->table));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    if (rule_ == nullptr) return std::move(tally_);
    const std::vector<const Rule*> rules = rules_for(*rule_);
    for (const std::size_t item : order) {
      if (tally_.made == most_places_) break;
      std::vector<Json> items(1, original(item));
      std::vector<Json> added;
      Json beside = Json::object();
      Json recorded = rule_->two_dumps ? items.front() : Json();
      Json other;
      Place place{items.front(),         added, beside, recorded, other,
                  registry_->manifest(), item,  random};
      if (!mistake_->make(place)) continue;
      items.insert(items.end(), added.begin(), added.end());
      ++tally_.made;
      const Registry::Text made = registry_->with(mistake_->table, item, items, beside);
      const Facts facts =
          rule_->two_dumps
              ? two_dumps(registry_->with(mistake_->table, item, {recorded}).text, made.text)
          : other.is_null() ? read(made.text, "registry.json")
                            : two_manifests(other, made.text);
      compare(item, made, judge(facts, rules), before);
    }
    return std::move(tally_);
  }

 private:
  Json original(std::size_t item) const {
    const Json& manifest = registry_->manifest();
    if (!mistake_->table.empty()) return manifest[mistake_->table][item];
    return registry_->head();
  }

  void compare(std::size_t item, const Registry::Text& made, const std::vector<Verdict>& verdicts,
               const std::set<Verdict>& before) {
    bool seen = false;
    std::set<std::string> disturbed;
    for (const Verdict& verdict : verdicts) {
      if (verdict.rule != mistake_->rule) {
        if (!known(before, verdict)) disturbed.insert(verdict.rule);
        continue;
      }
      if (before.contains(verdict)) continue;
      seen = seen ||
             std::any_of(verdict.places.begin(), verdict.places.end(),
                         [&made](const Location& where) { return made.is_made(where.offset); });
    }
    for (const std::string& rule : disturbed) ++tally_.disturbed[rule];
    if (seen) {
      ++tally_.found;
    } else {
      tally_.missed.push_back(item_name(item));
    }
  }

  // Another message about the same subject is no disturbance: it may count neighbours.
  static bool known(const std::set<Verdict>& before, const Verdict& verdict) {
    const auto at = before.lower_bound(Verdict{verdict.rule, verdict.subject, {}, {}});
    return at != before.end() && at->rule == verdict.rule && at->subject == verdict.subject;
  }

  std::string item_name(std::size_t item) const {
    const Json chosen = original(item);
    for (const char* key : {"name", "operator", "path"}) {
      if (has(chosen, key)) return chosen[key].get<std::string>();
    }
    return mistake_->table + "[" + std::to_string(item) + "]";
  }

  const Registry* registry_;
  const Mistake* mistake_;
  const Rule* rule_;
  std::size_t most_places_;
  Tally tally_;
};

}  // namespace

std::vector<Tally> make_mistakes(const Registry& registry, const std::vector<Mistake>& mistakes,
                                 std::string_view family, std::size_t most_places) {
  const auto all = all_rules();
  const std::vector<Verdict> recorded =
      judge(read(registry.text(), "registry.json"), {all.begin(), all.end()});
  const std::set<Verdict> before(recorded.begin(), recorded.end());
  std::vector<Tally> tallies;
  for (const Mistake& mistake : mistakes) {
    if (!mistake.rule.starts_with(family)) continue;
    tallies.push_back(Trial(registry, mistake, most_places).run(before));
  }
  return tallies;
}

}  // namespace opseal::test
