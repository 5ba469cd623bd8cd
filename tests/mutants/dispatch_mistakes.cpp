#include <string>

#include "tests/mutants/families.h"

namespace opseal::test {
namespace {

// A kernel that states its dtypes, or nullptr.
Json* typed_kernel(Json& op) {
  for (Json& kernel : op["kernels"]) {
    if (has_items(kernel, "dtypes")) return &kernel;
  }
  return nullptr;
}

// A table that lists every kind which the predicate accepts.
bool add_table(Json& dispatch) {
  if (!has_items(at(dispatch, "predicate"), "kinds")) return false;
  Json entries = Json::array();
  for (const Json& kind : dispatch["predicate"]["kinds"]) {
    entries.push_back({{"kind", kind}, {"kernel", "mul_" + kind.get<std::string>()}});
  }
  dispatch["table"] = {{"name", "launch"}, {"entries", entries}, {"default", nullptr}};
  return true;
}

}  // namespace

std::vector<Mistake> dispatch_mistakes() {
  return {
      {"dtype-unknown", "a misspelt dtype of a kernel",
       [](Place& place) {
         Json* kernel = has(place.item, "kernels") ? typed_kernel(place.item) : nullptr;
         if (kernel == nullptr) return false;
         any_of((*kernel)["dtypes"], place.random) = "flaot32";
         return true;
       }},
      {"dtype-unknown", "a misspelt dtype of a type variable",
       [](Place& place) {
         if (!has(place.item, "type_constraints") || place.item["type_constraints"].empty()) {
           return false;
         }
         Json& dtypes = place.item["type_constraints"].front();
         if (dtypes.empty()) return false;
         any_of(dtypes, place.random) = "tensor(flaot)";
         return true;
       }},
      {"dtype-rejected", "a dtype claimed that the kernel refuses",
       [](Place& place) {
         Json* kernel = has(place.item, "kernels") ? typed_kernel(place.item) : nullptr;
         if (kernel == nullptr || !kernel->contains("refused")) return false;
         (*kernel)["refused"].push_back(any_of((*kernel)["dtypes"], place.random));
         return true;
       }},
      {"claim-without-launch", "a kind claimed that the table lacks",
       [](Place& place) {
         if (!add_table(place.item)) return false;
         Json& entries = place.item["table"]["entries"];
         entries.erase(place.random() % entries.size());
         return true;
       },
       "dispatch"},
      {"launch-without-claim", "a kind launched that the predicate denies",
       [](Place& place) {
         if (!add_table(place.item)) return false;
         Json& kinds = place.item["predicate"]["kinds"];
         kinds.erase(place.random() % kinds.size());
         return true;
       },
       "dispatch"},
      {"fallback-default-wrong", "another kind's kernel in the default arm",
       [](Place& place) {
         if (!add_table(place.item)) return false;
         Json& entries = place.item["table"]["entries"];
         for (std::size_t at = 0; at < entries.size(); ++at) {
           if (entries[at]["kind"] != "q5_0") continue;
           entries.erase(at);
           place.item["table"]["default"] = "mul_q8_0";
           return true;
         }
         return false;
       },
       "dispatch"},
      {"dispatch-kernel-split", "one kind listed twice with two kernels",
       [](Place& place) {
         if (!add_table(place.item)) return false;
         Json& entries = place.item["table"]["entries"];
         Json again = any_of(entries, place.random);
         again["kernel"] = again["kernel"].get<std::string>() + "_wide";
         entries.push_back(std::move(again));
         return true;
       },
       "dispatch"},
      {"symbol-kind-mismatch", "a kernel under another kind",
       [](Place& place) {
         if (!add_table(place.item)) return false;
         Json& entries = place.item["table"]["entries"];
         for (Json& entry : entries) {
           const std::string kind = entry["kind"];
           if (kind != "q5_0") continue;
           entry["kernel"] = "mul_q4_0";
           return true;
         }
         return false;
       },
       "dispatch"},
  };
}

}  // namespace opseal::test
