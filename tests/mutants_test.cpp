// The program for mistakes (`./dev mutants`), over the registries that are kept here.

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "opseal/text.h"
#include "rules/rules.h"
#include "tests/mutants/experiment.h"
#include "tests/mutants/families.h"
#include "tests/support.h"

namespace opseal::test {
namespace {

constexpr std::size_t most_places = 10;

using Pair = std::pair<std::string, std::string>;
using Reasons = std::map<Pair, std::string>;

// (rule of the mistake, other rule of the default profile that it sets off) -> why that is right.
const Reasons& allowed_disturbances() {
  static const Reasons reasons = {
      {{"dispatch-empty", "default-unregistered"}, "its default names a kernel that is lost too"},
      {{"name-charset", "etp-unbatched-no-counterpart"},
       "the operator that had none has another name now"},
      {{"etp-counterpart-layout", "etp-index-range"}, "the other input does not exist"},
      {{"etp-index-overlap", "etp-counterpart-layout"}, "the counterpart's x stays where it was"},
      {{"etp-index-range", "etp-counterpart-layout"}, "the counterpart's index stays"},
      {{"etp-unbatched-no-counterpart", "etp-counterpart-layout"},
       "the operator is the counterpart of another, which then serves no batch"},
  };
  return reasons;
}

struct Lack {
  std::string what;
  std::set<std::string> rules;
};

// Rules for whose mistakes no registry here has a place, by what the registries lack.
const std::vector<Lack>& lacks() {
  static const std::vector<Lack> all = {
      {"dispatch records",
       {"allowlist-stale", "claim-without-launch", "coverage-empty", "enum-consumer-missed",
        "enumerator-unused", "predicate-constant", "predicate-guard-mismatch",
        "fallback-default-wrong", "fallback-drops-argument", "launch-without-claim",
        "predicate-overclaims", "predicate-underclaims", "dispatch-kernel-split",
        "name-unbuildable", "table-drift", "table-row-crossed"}},
      {"dtypes",
       {"cross-dtype-gap", "cross-provider-gap", "dtype-narrowed", "dtype-rejected",
        "dtype-unknown", "etp-int-x-repr", "ggml-file-format-name", "grad-dtype-narrower"}},
      {"what a framework did when it was asked: tests/live_frameworks_test.py has releases that "
       "differ",
       {"backend-switch-ineffective", "backend-warmcache", "batch-mismatch", "batch-nested",
        "key-ignores-shape-leak", "probe-framework", "rebuild-stale-dispatch"}},
      {"versions of operators",
       {"cross-version", "version-behind", "version-provider-skew", "version-range-gap",
        "version-range-overlap"}},
      {"schema texts and marks of writes",
       {"alias-incoherent",
        "argument-order",
        "call-arguments-swapped",
        "cross-mutation",
        "def-without-impl",
        "dtype-macro-narrower",
        "fake-choice-unread",
        "fake-default-missing",
        "fake-dtype",
        "fake-overload-missing",
        "fake-rank",
        "impl-crossed",
        "impl-def-unseen",
        "impl-without-def",
        "lookup-conditional",
        "mutates-args-malformed",
        "mutation-unmarked",
        "namespace-unexpanded",
        "returns-alias",
        "schema-arity",
        "schema-conflict",
        "schema-malformed",
        "schema-type"}},
      {"gradients and shape functions among the kernels",
       {"autograd-below-key", "autograd-key-device", "autograd-key-missing", "autocast-missing",
        "composite-device-kernel", "fake-missing", "fake-on-composite", "fake-on-meta",
        "grad-unmarked"}},
      {"kernels that are no functions of Python",
       {"fallback-ignores-argument", "spec-operand-mismatch"}},
      {"a gradient that is a function",
       {"gradient-form", "gradient-guard-index", "gradient-order", "gradient-signature"}},
      {"functions that differentiate themselves", {"vmap-without-setup-context"}},
      {"primitives as sources register them",
       {"lowering-layout-open", "lowering-platform", "lowering-uneven"}},
      {"kernels of Triton", {"launch-arguments"}},
      {"functions of C that Python declares", {"ctypes-signature"}},
      {"functions beside torch's registry",
       {"forward-write-unmarked", "gradient-gate-saved", "saved-count-mismatch"}},
      {"an operator marked differentiable", {"jvp-missing-differentiable"}},
      {"an operator with twelve kernels, each with a revision of its own", {"revision-collision"}},
      {"several backends on a platform without a first one that is the default",
       {"default-missing"}},
  };
  return all;
}

std::set<std::string> without_place() {
  std::set<std::string> rules;
  for (const Lack& lack : lacks()) rules.insert(lack.rules.begin(), lack.rules.end());
  return rules;
}

}  // namespace

TEST_CASE("each mistake made in a recorded registry is found by its rule") {
  std::map<std::string, std::size_t> places;
  std::map<Pair, std::size_t> disturbances;
  for (const char* name :
       {"_whole/brainevent-0.1.2", "_whole/brainevent-0.2.1", "_whole/braintrace-0.2.0",
        "_whole/braintrace-0.2.6", "_whole/jax-0.10.2", "_libraries/jax_cuda13_plugin-0.10.2",
        "_libraries/torchao-0.18.0", "_libraries/xformers-0.0.35"}) {
    const Registry registry(source_dir() / "fixtures" / (std::string(name) + ".json"));
    for (const Tally& tally : make_mistakes(registry, all_mistakes(), "", most_places)) {
      INFO(tally.registry << ": " << tally.what);
      places[tally.rule] += tally.made;
      CHECK_MESSAGE(tally.missed.empty(), tally.rule << " missed " << quote_list(tally.missed));
      for (const auto& [rule, copies] : tally.disturbed) {
        disturbances[{tally.rule, rule}] += copies;
      }
    }
  }
  const std::set<std::string> placeless = without_place();
  for (const auto& place : places) {
    CHECK_MESSAGE((place.second == 0) == placeless.contains(place.first),
                  place.first << ": " << place.second << " places");
  }
  for (const auto& entry : disturbances) {
    const Pair& pair = entry.first;
    CHECK_MESSAGE(allowed_disturbances().contains(pair),
                  "a mistake for " << pair.first << " sets off " << pair.second << " in "
                                   << entry.second << " copies");
  }
  for (const auto& allowed : allowed_disturbances()) {
    CHECK_MESSAGE(disturbances.contains(allowed.first),
                  "allowed and never seen: " << allowed.first.second);
  }
}

TEST_CASE("every mistake is for a rule that exists, and every rule has one") {
  std::set<std::string> rules;
  for (const Mistake& mistake : all_mistakes()) {
    CHECK_MESSAGE(find_rule(mistake.rule) != nullptr, mistake.rule);
    rules.insert(mistake.rule);
  }
  for (const Rule* rule : all_rules()) {
    CHECK_MESSAGE(rules.contains(std::string(rule->id)), "no mistake for " << rule->id);
  }
}

}  // namespace opseal::test
