#include <algorithm>
#include <cstdint>
#include <iterator>

#include "tests/mutants/families.h"

namespace opseal::test {
namespace {

// The most inputs that anything said of the operator allows, or 0.
std::uint64_t input_bound(const Json& op) {
  const Json& implementation = op["etp"]["implementation"];
  std::uint64_t bound = 0;
  if (has(implementation, "positional") && !implementation.value("variadic", false)) {
    bound = implementation["positional"].get<std::uint64_t>();
  }
  if (has(op, "inputs")) bound = std::max(bound, op["inputs"].get<std::uint64_t>());
  return bound;
}

bool x_is_input(const Json& op) { return has(op, "etp") && has(op["etp"], "x_index"); }

}  // namespace

std::vector<Mistake> etp_mistakes() {
  return {
      {"etp-rule-missing", "one rule not registered",
       [](Place& place) {
         Json& op = place.item;
         if (!has(op, "etp")) return false;
         static const char* const rules[] = {"dt_to_t", "xy_to_dw", "init_drtrl", "init_pp"};
         const char* const rule = rules[place.random() % 4];
         if (!has(op["etp"]["rules"], rule)) return false;
         op["etp"]["rules"][rule] = nullptr;
         return true;
       }},
      {"etp-rule-missing", "no rule registered",
       [](Place& place) {
         Json& op = place.item;
         if (!has(op, "etp")) return false;
         op["etp"]["rules"] = Json::object();
         return true;
       }},
      {"etp-index-range", "x past the last input",
       [](Place& place) {
         Json& op = place.item;
         if (!has(op, "etp")) return false;
         if (!x_is_input(op) || input_bound(op) == 0) return false;
         op["etp"]["x_index"] = input_bound(op) + place.random() % 3;
         return true;
       }},
      {"etp-index-range", "x behind an optional bias",
       [](Place& place) {
         Json& op = place.item;
         if (!has(op, "etp")) return false;
         if (!x_is_input(op) || !has(op["etp"], "trainables_without_bias")) return false;
         op["etp"]["x_index"] = 4 + place.random() % 3;
         return true;
       }},
      {"etp-index-range", "a weight past the last input",
       [](Place& place) {
         Json& op = place.item;
         if (!has(op, "etp")) return false;
         if (input_bound(op) == 0 || op["etp"]["trainables"].empty()) return false;
         op["etp"]["trainables"].front() = input_bound(op);
         return true;
       }},
      {"etp-index-range", "y past the last output",
       [](Place& place) {
         Json& op = place.item;
         if (!has(op, "etp")) return false;
         if (!has(op, "outputs") || !has(op["etp"], "y_index")) return false;
         op["etp"]["y_index"] = op["outputs"];
         return true;
       }},
      {"etp-index-overlap", "x at the index of a weight",
       [](Place& place) {
         Json& op = place.item;
         if (!has(op, "etp")) return false;
         const Json& trainables = op["etp"]["trainables"];
         if (!x_is_input(op) || trainables.empty()) return false;
         const auto chosen = std::next(
             trainables.begin(), static_cast<std::ptrdiff_t>(place.random() % trainables.size()));
         op["etp"]["x_index"] = *chosen;
         return true;
       }},
      {"etp-bias-dropped", "the default layout for an operator with a bias",
       [](Place& place) {
         Json& op = place.item;
         if (!has(op, "etp")) return false;
         const auto& attributes = op["attributes"];
         const bool biased =
             std::any_of(attributes.begin(), attributes.end(),
                         [](const Json& attribute) { return attribute["name"] == "has_bias"; });
         if (!biased) return false;
         op["etp"]["trainables"] = {{"weight", 1}};
         op["etp"]["trainables_explicit"] = false;
         op["etp"].erase("trainables_without_bias");
         return true;
       }},
      {"etp-gradient-enabled-trainable", "the flag on an operator with weights",
       [](Place& place) {
         Json& op = place.item;
         if (!has(op, "etp")) return false;
         if (!x_is_input(op) || !has(op["etp"], "gradient_enabled")) return false;
         op["etp"]["gradient_enabled"] = true;
         return true;
       }},
      {"etp-unbatched-no-counterpart", "the counterpart not registered",
       [](Place& place) {
         Json& op = place.item;
         if (!has(op, "etp")) return false;
         if (!x_is_input(op) || !has(op["etp"], "counterpart")) return false;
         op["etp"]["counterpart"] = nullptr;
         op["batching"] = {{"kind", "custom"}};
         return true;
       }},
      {"etp-unbatched-no-counterpart", "a batched operator registered as unbatched",
       [](Place& place) {
         Json& op = place.item;
         if (!has(op, "etp")) return false;
         if (!x_is_input(op) || !op["etp"]["batched"].get<bool>()) return false;
         op["etp"]["batched"] = false;
         return true;
       }},
      {"etp-counterpart-layout", "a parameter at another input than in the counterpart",
       [](Place& place) {
         Json& op = place.item;
         if (!has(op, "etp")) return false;
         if (!has(op["etp"], "counterpart")) return false;
         Json& trainables = op["etp"]["trainables"];
         const auto chosen = std::next(
             trainables.begin(), static_cast<std::ptrdiff_t>(place.random() % trainables.size()));
         *chosen = chosen->get<std::uint64_t>() + 3;
         return true;
       }},
      {"etp-counterpart-layout", "a parameter less than in the counterpart",
       [](Place& place) {
         Json& op = place.item;
         if (!has(op, "etp")) return false;
         if (!has(op["etp"], "counterpart") || op["etp"]["trainables"].size() < 2) return false;
         op["etp"]["trainables"].erase(op["etp"]["trainables"].begin());
         return true;
       }},
      {"etp-instant-solve-pair", "one of the pair dropped",
       [](Place& place) {
         Json& op = place.item;
         if (!has(op, "etp")) return false;
         if (!has(op["etp"], "instant") || !has(op["etp"], "solve")) return false;
         op["etp"][place.random() % 2 == 0 ? "instant" : "solve"] = nullptr;
         return true;
       }},
      {"etp-instant-solve-pair", "one of the pair registered",
       [](Place& place) {
         Json& op = place.item;
         if (!has(op, "etp")) return false;
         if (!is_null(op["etp"], "instant") || !is_null(op["etp"], "solve")) return false;
         op["etp"][place.random() % 2 == 0 ? "instant" : "solve"] = {{"name", "pkg.rule"}};
         return true;
       }},
      {"etp-fastpath-elementwise", "a gate that doesn't look at the weight's function",
       [](Place& place) {
         Json& op = place.item;
         if (!has(op, "etp")) return false;
         if (!has(op["etp"], "fast_path")) return false;
         op["etp"]["fast_path"]["gate_reads"] = Json::array();
         return true;
       }},
      {"etp-fastpath-elementwise", "a fast path on what is not elementwise",
       [](Place& place) {
         Json& op = place.item;
         if (!has(op, "etp")) return false;
         if (!is_null(op["etp"], "fast_path")) return false;
         op["etp"]["fast_path"] = {{"elementwise", false}};
         return true;
       }},
      {"etp-int-x-repr", "the representation rule of an integer x dropped",
       [](Place& place) {
         Json& op = place.item;
         if (!has(op, "etp")) return false;
         if (!has(op["etp"], "x_dtypes") || !has(op["etp"], "x_representation")) return false;
         op["etp"]["x_representation"] = nullptr;
         return true;
       }},
      {"etp-stale-api", "the former name of a rule",
       [](Place& place) {
         Json& op = place.item;
         if (!has(op, "etp")) return false;
         if (op["etp"]["spelling"] != "dt_to_t") return false;
         op["etp"]["spelling"] = "yw_to_w";
         return true;
       }},
  };
}

}  // namespace opseal::test
