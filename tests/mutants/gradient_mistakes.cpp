#include <algorithm>
#include <cstdint>
#include <iterator>

#include "tests/mutants/families.h"

namespace opseal::test {
namespace {

bool has_rules(const Json& op) {
  return at(op, "inputs").is_number() && has(op, "jvp") && op["jvp"]["kind"] == "per_input";
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

}  // namespace

std::vector<Mistake> gradient_mistakes() {
  return {
      {"jvp-arity", "a rule too many",
       [](Place& place) {
         Json& op = place.item;
         if (!has_rules(op)) return false;
         op["jvp"]["rules"].push_back(nullptr);
         return true;
       }},
      {"jvp-arity", "a rule too few",
       [](Place& place) {
         Json& op = place.item;
         if (!has_rules(op) || op["jvp"]["rules"].size() > op["inputs"].get<std::size_t>()) {
           return false;
         }
         op["jvp"]["rules"].erase(op["jvp"]["rules"].size() - 1);
         return true;
       }},
      {"jvp-signature", "a rule takes an argument too few",
       [](Place& place) {
         Json& op = place.item;
         const std::vector<std::size_t> slots = filled_slots(op);
         if (slots.empty()) return false;
         Json& rule = op["jvp"]["rules"][slots[place.random() % slots.size()]];
         if (!has(rule, "positional")) return false;
         rule["positional"] = op["inputs"];
         return true;
       }},
      {"jvp-hole", "a rule of a floating-point input dropped",
       [](Place& place) {
         Json& op = place.item;
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
       [](Place& place) {
         Json& op = place.item;
         if (!op.value("differentiable", false) || !has(op, "jvp")) return false;
         op["jvp"] = nullptr;
         return true;
       }},
      {"jvp-without-transpose", "the transpose of an operator that feeds itself dropped",
       [](Place& place) {
         Json& op = place.item;
         if (!has_rules(op) || !has(op, "transpose")) return false;
         for (const Json& reached : op["jvp"]["tangent_operators"]) {
           if (!reached.is_array()) continue;
           if (std::find(reached.begin(), reached.end(), op["name"]) == reached.end()) continue;
           op["transpose"] = nullptr;
           return true;
         }
         return false;
       }},
  };
}

}  // namespace opseal::test
