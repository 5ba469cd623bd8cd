// Registries recorded from real packages: what they hold, counted, and what the default profile
// says about them. The figures were established by hand before opseal existed; a difference means
// that one of the two is wrong.

#include <doctest/doctest.h>

#include <string>

#include "opseal/registration.h"
#include "tests/support.h"

namespace fs = std::filesystem;

namespace opseal::test {
namespace {

// Everything that the figures are about, under the name that they have there.
Counts count_facts(const Facts& facts) {
  Counts counts;
  for_each_operator(facts, [&counts](const Fact&, const Fact& op) {
    ++counts["operators"];
    for (const Fact kernel : op[Key::kernels].items()) {
      ++counts["kernels"];
      std::string at(kernel[Key::platform].text());
      if (kernel[Key::backend].is_text()) at += ' ' + std::string(kernel[Key::backend].text());
      ++counts["kernel " + at];
    }
    const Fact jvp = op[Key::jvp];
    if (jvp.is_null()) ++counts["jvp none"];
    if (jvp.present()) {
      std::string kind(jvp[Key::kind].text());
      if (jvp[Key::leading].count() == 2) kind += " leading 2";
      ++counts["jvp " + kind];
    }
    for (const Fact rule : jvp[Key::rules].items()) {
      ++counts["jvp slots"];
      ++counts[rule.is_null() ? "jvp slots null" : "jvp slots function"];
    }
    if (op[Key::transpose].present()) ++counts["transpose"];
    if (op[Key::batching].present()) ++counts["batching"];
    if (op[Key::batching].present())
      ++counts["batching " + std::string(op[Key::batching][Key::kind].text())];
    if (op[Key::etp].present()) ++counts["etp " + std::string(op[Key::etp][Key::spelling].text())];
  });
  for (const Document& document : facts.documents) {
    for (const Fact target : facts.root(document)[Key::targets].items()) {
      ++counts["targets " + std::string(target[Key::platform].text()) + " " +
               std::to_string(target[Key::api_version].count(9))];
    }
  }
  return counts;
}

struct Recorded {
  const char* name;
  // Only those named are compared.
  Counts facts;
  Counts findings;
  int exit_code;
};

const std::vector<Recorded>& recorded_registries() {
  static const std::vector<Recorded> all = {
      {"brainevent-0.1.2",
       {{"operators", 51},
        {"kernels", 179},
        {"kernel cpu numba", 50},
        {"kernel cpu jax_raw", 25},
        {"kernel gpu cuda_raw", 50},
        {"kernel gpu jax_raw", 25},
        {"kernel gpu cusparse", 2},
        {"kernel gpu cublas", 0},
        {"kernel tpu jax_raw", 25},
        {"kernel tpu pallas", 2},
        {"jvp per_input", 31},
        {"jvp none", 20},
        {"jvp slots", 142},
        {"jvp slots function", 65},
        {"jvp slots null", 77},
        {"transpose", 29},
        {"batching custom", 36},
        {"batching general", 15}},
       {{"jvp-arity error", 1},
        {"cache-key-incomplete error", 1},
        {"jvp-without-transpose warning", 2},
        {"cache-key-schema warning", 1},
        {"cache-key-unseparated warning", 1},
        {"cache-key-env warning", 1},
        {"cache-temp-collision warning", 1}},
       1},
      {"brainevent-0.2.1",
       {{"operators", 51},
        {"kernels", 181},
        {"kernel cpu numba", 50},
        {"kernel cpu jax_raw", 25},
        {"kernel gpu cuda_raw", 50},
        {"kernel gpu jax_raw", 25},
        {"kernel gpu cusparse", 2},
        {"kernel gpu cublas", 2},
        {"kernel tpu jax_raw", 25},
        {"kernel tpu pallas", 2},
        {"jvp per_input", 31},
        {"jvp none", 20},
        {"jvp slots", 141},
        {"jvp slots function", 65},
        {"jvp slots null", 76},
        {"transpose", 29},
        {"batching custom", 36},
        {"batching general", 15}},
       {{"jvp-without-transpose warning", 2},
        {"cache-key-unseparated warning", 1},
        {"cache-key-env warning", 1}},
       0},
      {"braintrace-0.2.0",
       {{"operators", 8},
        {"kernels", 8},
        {"kernel any mlir", 8},
        {"jvp custom", 8},
        {"transpose", 0},
        {"batching custom", 8},
        {"etp yw_to_w", 8}},
       {{"etp-unbatched-no-counterpart warning", 3}},
       0},
      {"braintrace-0.2.6",
       {{"operators", 13},
        {"kernels", 13},
        {"kernel any mlir", 13},
        {"jvp custom", 13},
        {"transpose", 0},
        {"batching custom", 8},
        {"batching counterpart", 5},
        {"etp dt_to_t", 13}},
       {},
       0},
      {"jax-0.10.2",
       {{"operators", 312},
        {"kernels", 432},
        {"kernel any mlir", 272},
        {"kernel cuda mlir", 57},
        {"kernel rocm mlir", 49},
        {"kernel cpu mlir", 25},
        {"kernel oneapi mlir", 15},
        {"kernel tpu mlir", 14},
        {"jvp per_input", 50},
        {"jvp per_input leading 2", 22},
        {"jvp linear", 42},
        {"jvp zero", 31},
        {"jvp custom", 78},
        {"jvp none", 89},
        {"transpose", 121},
        {"batching", 240},
        {"targets cpu 1", 62}},
       {},
       0},
  };
  return all;
}

}  // namespace

TEST_CASE("the recorded registries of the JAX family hold what was counted by hand") {
  fs::current_path(source_dir());
  for (const Recorded& recorded : recorded_registries()) {
    SUBCASE(recorded.name) {
      const Audit audit =
          audit_paths({"fixtures/_whole/" + std::string(recorded.name) + ".json"}, {});
      CHECK(audit.facts.problems.empty());
      Counts counts = count_facts(audit.facts);
      // No structured binding: `INFO` captures by a lambda, in which clang 14 refuses one.
      for (const auto& expected : recorded.facts) {
        INFO(expected.first);
        CHECK(counts[expected.first] == expected.second);
      }
      CHECK(show(count_findings(audit)) == show(recorded.findings));
      CHECK(audit.exit_code == recorded.exit_code);
    }
  }
}

}  // namespace opseal::test
