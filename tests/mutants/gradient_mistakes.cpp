#include "tests/mistakes.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace opseal::test {
namespace {

bool has(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) && !object.at(key).is_null();
}

bool is_null(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) && object.at(key).is_null();
}

bool has_rules(const Json& op) {
  return has(op, "inputs") && has(op, "jvp") && op["jvp"]["kind"] == "per_input";
}

// Rules of an operator that are functions, by slot.
std::vector<std::size_t> filled_slots(const Json& op) {
  std::vector<std::size_t> slots;
  if (!has_rules(op)) return slots;
  const Json& rules = op["jvp"]["rules"];
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (rules[i].is_object()) slots.push_back(i);
  }
  return slots;
}

bool is_floating(const std::string& dtype) { return dtype.starts_with("float"); }

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

const std::vector<Mistake>& mistakes() {
  static const std::vector<Mistake> all = {
      {"jvp-arity", "a rule too many",
       [](Json& op, Random&) {
         if (!has_rules(op)) return false;
         op["jvp"]["rules"].push_back(nullptr);
         return true;
       }},
      {"jvp-arity", "a rule too few",
       [](Json& op, Random&) {
         if (!has_rules(op) || op["jvp"]["rules"].size() > op["inputs"].get<std::size_t>()) {
           return false;
         }
         op["jvp"]["rules"].erase(op["jvp"]["rules"].size() - 1);
         return true;
       }},
      {"jvp-signature", "a rule takes an argument too few",
       [](Json& op, Random& random) {
         const std::vector<std::size_t> slots = filled_slots(op);
         if (slots.empty()) return false;
         Json& rule = op["jvp"]["rules"][slots[random() % slots.size()]];
         if (!has(rule, "positional")) return false;
         rule["positional"] = op["inputs"];
         return true;
       }},
      {"jvp-hole", "a rule of a floating-point input dropped",
       [](Json& op, Random&) {
         if (!has(op, "traced_signatures") || !has_rules(op)) return false;
         if (op["jvp"]["rules"].size() != op["inputs"].get<std::size_t>()) return false;
         for (const std::size_t slot : filled_slots(op)) {
           if (!is_floating(op["traced_signatures"][0][slot].get<std::string>())) continue;
           op["jvp"]["rules"][slot] = nullptr;
           return true;
         }
         return false;
       }},
      {"jvp-missing-differentiable", "the JVP of an operator marked differentiable dropped",
       [](Json& op, Random&) {
         if (!op.value("differentiable", false) || !has(op, "jvp")) return false;
         op["jvp"] = nullptr;
         return true;
       }},
      {"jvp-without-transpose", "the transpose of an operator that feeds itself dropped",
       [](Json& op, Random&) {
         if (!has_rules(op) || !has(op, "transpose")) return false;
         for (const Json& reached : op["jvp"]["tangent_operators"]) {
           if (!reached.is_array()) continue;
           if (std::find(reached.begin(), reached.end(), op["name"]) == reached.end()) continue;
           op["transpose"] = nullptr;
           return true;
         }
         return false;
       }},
      {"etp-rule-missing", "one rule not registered",
       [](Json& op, Random& random) {
         static const char* const rules[] = {"dt_to_t", "xy_to_dw", "init_drtrl", "init_pp"};
         const char* const rule = rules[random() % 4];
         if (!has(op["etp"]["rules"], rule)) return false;
         op["etp"]["rules"][rule] = nullptr;
         return true;
       }},
      {"etp-rule-missing", "no rule registered",
       [](Json& op, Random&) {
         op["etp"]["rules"] = Json::object();
         return true;
       }},
      {"etp-index-range", "x past the last input",
       [](Json& op, Random& random) {
         if (!x_is_input(op) || input_bound(op) == 0) return false;
         op["etp"]["x_index"] = input_bound(op) + random() % 3;
         return true;
       }},
      {"etp-index-range", "x behind an optional bias",
       [](Json& op, Random& random) {
         if (!x_is_input(op) || !has(op["etp"], "trainables_without_bias")) return false;
         op["etp"]["x_index"] = 4 + random() % 3;
         return true;
       }},
      {"etp-index-range", "a weight past the last input",
       [](Json& op, Random&) {
         if (input_bound(op) == 0 || op["etp"]["trainables"].empty()) return false;
         op["etp"]["trainables"].front() = input_bound(op);
         return true;
       }},
      {"etp-index-range", "y past the last output",
       [](Json& op, Random&) {
         if (!has(op, "outputs") || !has(op["etp"], "y_index")) return false;
         op["etp"]["y_index"] = op["outputs"];
         return true;
       }},
      {"etp-index-overlap", "x at the index of a weight",
       [](Json& op, Random& random) {
         const Json& trainables = op["etp"]["trainables"];
         if (!x_is_input(op) || trainables.empty()) return false;
         const auto chosen = std::next(trainables.begin(),
                                       static_cast<std::ptrdiff_t>(random() % trainables.size()));
         op["etp"]["x_index"] = *chosen;
         return true;
       }},
      {"etp-bias-dropped", "the default layout for an operator with a bias",
       [](Json& op, Random&) {
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
       [](Json& op, Random&) {
         if (!x_is_input(op) || !has(op["etp"], "gradient_enabled")) return false;
         op["etp"]["gradient_enabled"] = true;
         return true;
       }},
      {"etp-unbatched-no-counterpart", "the counterpart not registered",
       [](Json& op, Random&) {
         if (!x_is_input(op) || !has(op["etp"], "counterpart")) return false;
         op["etp"]["counterpart"] = nullptr;
         op["batching"] = {{"kind", "custom"}};
         return true;
       }},
      {"etp-unbatched-no-counterpart", "a batched operator registered as unbatched",
       [](Json& op, Random&) {
         if (!x_is_input(op) || !op["etp"]["batched"].get<bool>()) return false;
         op["etp"]["batched"] = false;
         return true;
       }},
      {"etp-counterpart-layout", "a parameter at another input than in the counterpart",
       [](Json& op, Random& random) {
         if (!has(op["etp"], "counterpart")) return false;
         Json& trainables = op["etp"]["trainables"];
         const auto chosen = std::next(trainables.begin(),
                                       static_cast<std::ptrdiff_t>(random() % trainables.size()));
         *chosen = chosen->get<std::uint64_t>() + 3;
         return true;
       }},
      {"etp-counterpart-layout", "a parameter less than in the counterpart",
       [](Json& op, Random&) {
         if (!has(op["etp"], "counterpart") || op["etp"]["trainables"].size() < 2) return false;
         op["etp"]["trainables"].erase(op["etp"]["trainables"].begin());
         return true;
       }},
      {"etp-instant-solve-pair", "one of the pair dropped",
       [](Json& op, Random& random) {
         if (!has(op["etp"], "instant") || !has(op["etp"], "solve")) return false;
         op["etp"][random() % 2 == 0 ? "instant" : "solve"] = nullptr;
         return true;
       }},
      {"etp-instant-solve-pair", "one of the pair registered",
       [](Json& op, Random& random) {
         if (!is_null(op["etp"], "instant") || !is_null(op["etp"], "solve")) return false;
         op["etp"][random() % 2 == 0 ? "instant" : "solve"] = {{"name", "pkg.rule"}};
         return true;
       }},
      {"etp-fastpath-elementwise", "a gate that doesn't look at the weight's function",
       [](Json& op, Random&) {
         if (!has(op["etp"], "fast_path")) return false;
         op["etp"]["fast_path"]["gate_reads"] = Json::array();
         return true;
       }},
      {"etp-fastpath-elementwise", "a fast path on what is not elementwise",
       [](Json& op, Random&) {
         if (!is_null(op["etp"], "fast_path")) return false;
         op["etp"]["fast_path"] = {{"elementwise", false}};
         return true;
       }},
      {"etp-int-x-repr", "the representation rule of an integer x dropped",
       [](Json& op, Random&) {
         if (!has(op["etp"], "x_dtypes") || !has(op["etp"], "x_representation")) return false;
         op["etp"]["x_representation"] = nullptr;
         return true;
       }},
      {"etp-stale-api", "the former name of a rule",
       [](Json& op, Random&) {
         if (op["etp"]["spelling"] != "dt_to_t") return false;
         op["etp"]["spelling"] = "yw_to_w";
         return true;
       },
       true},
  };
  return all;
}

}  // namespace opseal::test
