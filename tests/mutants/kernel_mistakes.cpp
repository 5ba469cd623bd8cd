#include <string>

#include "tests/mutants/families.h"

namespace opseal::test {
namespace {

bool runs(const Json& kernel) {
  const std::string platform = kernel["platform"];
  return kernel.value("active", true) && !kernel.value("fallthrough", false) &&
         !kernel.value("stub", false) && platform != "Meta";
}

// A kernel that runs, or nullptr.
Json* running_kernel(Place& place) {
  if (!has_items(place.item, "kernels")) return nullptr;
  Json& kernel = any_of(place.item["kernels"], place.random);
  return runs(kernel) ? &kernel : nullptr;
}

// Says something of a kernel.
bool state(Place& place, const char* key, Json value) {
  Json* kernel = running_kernel(place);
  if (kernel == nullptr) return false;
  (*kernel)[key] = std::move(value);
  return true;
}

// Registers the kernel once more, with something else said of the two.
bool register_again(Place& place, const Json& first, const Json& second) {
  Json* kernel = running_kernel(place);
  if (kernel == nullptr) return false;
  Json again = *kernel;
  kernel->update(first);
  again.update(second);
  place.item["kernels"].push_back(std::move(again));
  return true;
}

bool has_exact_inputs(const Json& op) { return at(op, "inputs").is_number(); }

// The first operand that is a written buffer, or nullptr.
Json* written(Json& op, const char* list) {
  if (!has(op, list) || !op[list].is_array()) return nullptr;
  for (Json& operand : op[list]) {
    const std::string alias = text_of(operand, "alias");
    if (alias.find('!') != alias.npos && alias.find_first_of("|*- ") == alias.npos) return &operand;
  }
  return nullptr;
}

}  // namespace

std::vector<Mistake> kernel_mistakes() {
  return {
      {"ambiguous-arity", "a kernel of another arity under one id",
       [](Place& place) {
         Json short_one = Json::array({"float32", "float32"});
         Json long_one = Json::array({"float32", "float32", "float32"});
         return has_exact_inputs(place.item) &&
                register_again(place, {{"signatures", Json::array({short_one})}},
                               {{"signatures", Json::array({long_one})}});
       }},
      {"alternatives-first", "two kernels, and no cost known of either",
       [](Place& place) {
         return register_again(place, {{"symbol", "first"}, {"cost", {{"known", false}}}},
                               {{"symbol", "second"}, {"cost", {{"known", false}}}});
       }},
      {"fallback-ignores-argument", "an alternative that lacks an argument",
       [](Place& place) {
         // XLA's kernels are lowering rules, which take what they want by keyword.
         for (const char* system : {"brainevent", "braintrace", "jax"}) {
           if (is_system(place, system)) return false;
         }
         if (!has_items(place.item, "inputs") || place.item["inputs"].size() < 2) return false;
         const std::string x = text_of(place.item["inputs"][0], "name");
         const std::string y = text_of(place.item["inputs"][1], "name");
         if (x.empty() || y.empty() || x == y || !has_items(place.item, "kernels")) return false;
         Json* full = nullptr;
         Json* poor = nullptr;
         for (Json& kernel : place.item["kernels"]) {
           kernel.erase("native_signature");
           if (runs(kernel)) (full == nullptr ? full : poor) = &kernel;
         }
         if (poor == nullptr) return false;
         (*full)["native_signature"] = "void fast(Tensor " + x + ", Tensor " + y + ")";
         (*poor)["native_signature"] = "void slow(Tensor " + x + ")";
         return true;
       }},
      {"caps-contradiction", "broadcast inputs required, strided ones refused",
       [](Place& place) {
         return state(place, "capabilities",
                      {{"strided_input", false}, {"requires_broadcast", true}});
       }},
      {"caps-incomplete", "an alignment in words only",
       [](Place& place) {
         return state(place, "capabilities",
                      {{"constraints", {"pointers must be aligned to 16 bytes"}}});
       }},
      {"device-declared-missing", "a platform declared and forgotten",
       [](Place& place) {
         if (!has_items(place.item, "platforms")) return false;
         place.item["platforms"].push_back("vulkan");
         return true;
       },
       ""},
      {"params-op-pairing", "the parameters of another operator",
       [](Place& place) {
         place.item["params_variants"] = {"Own"};
         return state(place, "params", "Foreign");
       }},
      {"op-semantics-split", "another meaning on another platform",
       [](Place& place) {
         if (!has_items(place.item, "kernels")) return false;
         Json& first = place.item["kernels"].front();
         if (!runs(first)) return false;
         for (Json& other : place.item["kernels"]) {
           if (other["platform"] == first["platform"] || !runs(other)) continue;
           if (at(other, "versions") != at(first, "versions")) continue;
           first["semantics"] = "rope-interleaved";
           other["semantics"] = "rope-half";
           return true;
         }
         return false;
       }},
      {"alias-incoherent", "the written buffer of no input",
       [](Place& place) {
         Json* output = written(place.item, "outputs");
         if (output == nullptr || !has_items(place.item, "inputs")) return false;
         for (Json& input : place.item["inputs"]) {
           const std::string alias = text_of(input, "alias");
           if (alias.find_first_of("|*- ") != alias.npos) return false;
           if (alias == text_of(*output, "alias")) input.erase("alias");
         }
         return true;
       }},
      {"alias-incoherent", "a kernel of an in-place operator that is not in place",
       [](Place& place) {
         return written(place.item, "outputs") != nullptr &&
                state(place, "capabilities", {{"in_place", false}});
       }},
      {"precision-unaudited", "a bound that nobody checked",
       [](Place& place) {
         return state(place, "precision", {{"max_ulp", 1}, {"audited", false}});
       }},
      {"determinism-incoherent", "bits that are stable and are not",
       [](Place& place) {
         Json* kernel = running_kernel(place);
         if (kernel == nullptr) return false;
         (*kernel)["determinism"] = "nondeterministic";
         (*kernel)["precision"] = {{"bit_stable", true}};
         return true;
       }},
      {"revision-collision", "the revision of another kernel",
       [](Place& place) {
         if (!has_items(place.item, "kernels") || place.item["kernels"].size() < 12) return false;
         const std::string digest = "9d1c0a5be77f00";
         std::size_t number = 10;
         for (Json& kernel : place.item["kernels"]) {
           kernel["symbol"] = "kernel_" + std::to_string(number);
           kernel["revision"] = digest + std::to_string(number++);
         }
         const Json& first = place.item["kernels"].front();
         Json& last = place.item["kernels"].back();
         last["revision"] = first["revision"];
         // Those of one platform come from one declaration.
         return last["platform"] != first["platform"];
       }},
      {"revision-untracked", "a revision that tracks nothing",
       [](Place& place) { return state(place, "revision", "0"); }},
  };
}

}  // namespace opseal::test
