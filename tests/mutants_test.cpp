// Makes the mistake that a rule is for in a recorded registry, wherever that registry holds the
// facts, and asks whether the rule finds it: one mistake a copy, up to ten places a mistake and
// registry. A rule that no registry here can exercise is listed with the reason.

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "opseal/text.h"
#include "rules/rules.h"
#include "tests/mistakes.h"
#include "tests/support.h"

namespace opseal::test {
namespace {

constexpr std::size_t most_places = 10;
constexpr std::uint32_t seed = 20;

struct Registry {
  const char* file;
  const char* family;
};

constexpr Registry registries[] = {{"brainevent-0.1.2", "jvp-"},
                                   {"brainevent-0.2.1", "jvp-"},
                                   {"braintrace-0.2.0", "etp-"},
                                   {"braintrace-0.2.6", "etp-"}};

// (rule, registry) -> why there is no place for its mistakes.
const std::map<std::pair<std::string, std::string>, std::string>& without_place() {
  static const std::map<std::pair<std::string, std::string>, std::string> reasons = {
      {{"jvp-missing-differentiable", "brainevent-0.1.2"}, "no operator is marked differentiable"},
      {{"jvp-missing-differentiable", "brainevent-0.2.1"}, "no operator is marked differentiable"},
      {{"etp-int-x-repr", "braintrace-0.2.0"}, "the registry holds no dtypes"},
      {{"etp-int-x-repr", "braintrace-0.2.6"}, "the registry holds no dtypes"},
      {{"etp-counterpart-layout", "braintrace-0.2.0"}, "that version has no counterparts"},
      {{"etp-instant-solve-pair", "braintrace-0.2.0"}, "that version has neither rule"},
      {{"etp-fastpath-elementwise", "braintrace-0.2.0"}, "that version has no fast paths"},
      {{"etp-stale-api", "braintrace-0.2.0"}, "every operator has the former name already"},
  };
  return reasons;
}

// (rule of the mistake, other rule of the default profile that it sets off) -> why that is right.
const std::map<std::pair<std::string, std::string>, std::string>& allowed_disturbances() {
  static const std::map<std::pair<std::string, std::string>, std::string> reasons = {
      {{"etp-counterpart-layout", "etp-index-range"}, "the other input does not exist"},
      {{"etp-index-overlap", "etp-counterpart-layout"}, "the counterpart's x stays where it was"},
      {{"etp-index-range", "etp-counterpart-layout"}, "the counterpart's index stays"},
      {{"etp-unbatched-no-counterpart", "etp-counterpart-layout"},
       "the operator is the counterpart of another, which then serves no batch"},
  };
  return reasons;
}

// rule id and subject.
using Found = std::set<std::pair<std::string, std::string>>;

Found audit(const Json& manifest, const std::string& rule) {
  std::vector<const Rule*> rules;
  for (const Rule* candidate : all_rules()) {
    if (candidate->profile == Profile::standard || candidate->id == rule) {
      rules.push_back(candidate);
    }
  }
  const Facts facts = read_text(manifest.dump());
  CHECK(facts.problems.empty());
  std::vector<Finding> findings;
  run_rules(rules, facts, 1, findings);
  Found found;
  for (const Finding& finding : findings) {
    found.insert({std::string(finding.rule->id), finding.subject});
  }
  return found;
}

std::string subject(const Json& manifest, const Json& op, const Mistake& mistake) {
  const std::string system = manifest["system"];
  return mistake.whole_manifest ? system : system + "::" + op["name"].get<std::string>();
}

struct Mutant {
  Json manifest;
  // What must be found.
  std::string subject;
};

// Copies of the manifest with the mistake in one operator each.
std::vector<Mutant> mutants(const Json& manifest, const Mistake& mistake, const Found& before,
                            Random& random) {
  std::vector<Mutant> made;
  for (std::size_t i = 0; i < manifest["operators"].size(); ++i) {
    const std::string expected = subject(manifest, manifest["operators"][i], mistake);
    if (before.contains({mistake.rule, expected})) continue;
    Json copy = manifest;
    if (mistake.make(copy["operators"][i], random)) made.push_back({std::move(copy), expected});
  }
  while (made.size() > most_places) {
    made.erase(made.begin() + static_cast<std::ptrdiff_t>(random() % made.size()));
  }
  return made;
}

}  // namespace

TEST_CASE("each mistake made in a recorded registry is found by its rule") {
  Random random(seed);
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  std::map<std::pair<std::string, std::string>, std::size_t> disturbances;
  for (const Registry& registry : registries) {
    const std::string path = "fixtures/_whole/" + std::string(registry.file) + ".json";
    const Json manifest = Json::parse(read_file(source_dir() / path));
    for (const Mistake& mistake : mistakes()) {
      if (!mistake.rule.starts_with(registry.family)) continue;
      const Found before = audit(manifest, mistake.rule);
      std::size_t& count = places[{mistake.rule, registry.file}];
      for (const Mutant& mutant : mutants(manifest, mistake, before, random)) {
        INFO(registry.file << ", " << mutant.subject << ": " << mistake.what);
        ++count;
        const Found after = audit(mutant.manifest, mistake.rule);
        CHECK_MESSAGE(after.contains({mistake.rule, mutant.subject}), mistake.rule);
        for (const auto& finding : after) {
          if (before.contains(finding) || finding.first == mistake.rule) continue;
          ++disturbances[{mistake.rule, finding.first}];
        }
      }
    }
  }
  for (const auto& place : places) {
    INFO(place.first.first << " in " << place.first.second << ": " << place.second << " mutants");
    CHECK((place.second == 0) == without_place().contains(place.first));
  }
  for (const auto& entry : disturbances) {
    const std::pair<std::string, std::string>& pair = entry.first;
    MESSAGE("a mistake for " << pair.first << " sets off " << pair.second << " in "
                             << plural(entry.second, "mutant"));
    CHECK_MESSAGE(allowed_disturbances().contains(pair), pair.second);
  }
  for (const auto& allowed : allowed_disturbances()) {
    CHECK_MESSAGE(disturbances.contains(allowed.first),
                  "allowed and never seen: " << allowed.first.second);
  }
  for (const auto& listed : without_place()) {
    CHECK_MESSAGE(places.contains(listed.first), "listed and never tried: " << listed.first.first);
  }
}

TEST_CASE("every rule of the mutated families has a mistake") {
  std::set<std::string> covered;
  for (const Mistake& mistake : mistakes()) covered.insert(mistake.rule);
  for (const Rule* rule : all_rules()) {
    if (!rule->id.starts_with("jvp-") && !rule->id.starts_with("etp-")) continue;
    if (rule->tier != Tier::manifest || rule->two_dumps) continue;
    CHECK_MESSAGE(covered.contains(std::string(rule->id)), rule->id);
  }
}

}  // namespace opseal::test
