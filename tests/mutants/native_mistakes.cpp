#include <string>
#include <utility>

#include "tests/mutants/families.h"

namespace opseal::test {
namespace {

// Lets a kernel call a target with such a spec. Where the framework is XLA itself, a binding takes
// more than a spec can say.
Json* call_target(Place& place, Json spec) {
  if (is_system(place, "jax") || !has_items(place.item, "kernels")) return nullptr;
  Json& kernel = place.item["kernels"].front();
  kernel["target"] = "pkg.kernel";
  place.beside["targets"] = {{{"name", "pkg.kernel"}, {"platform", "cpu"}, {"spec", spec}}};
  return &kernel;
}

bool mismatch(Place& place, Json spec, const char* signature) {
  Json* kernel = call_target(place, std::move(spec));
  if (kernel == nullptr) return false;
  (*kernel)["native_signature"] = signature;
  return true;
}

bool is_plain(const Json& operand) {
  return !operand.value("optional", false) && !operand.value("variadic", false);
}

// Every operand is always there.
bool has_plain_inputs(const Json& op) {
  const Json& inputs = at(op, "inputs");
  if (inputs.is_number()) return true;
  if (!inputs.is_array()) return false;
  for (const Json& operand : inputs) {
    if (!is_plain(operand)) return false;
  }
  return true;
}

std::size_t count(const Json& operands) {
  return operands.is_number() ? operands.get<std::size_t>() : operands.size();
}

Mistake target_mistake(const char* rule, const char* what, bool (*make)(Place&)) {
  return {rule, what, make, "targets"};
}

// The library that a target came from, and what is known of its file.
bool describe_library(Place& place, Json facts) {
  if (!has(place.item, "library")) return false;
  facts["path"] = place.item["library"];
  place.beside["libraries"] = Json::array({std::move(facts)});
  return true;
}

}  // namespace

std::vector<Mistake> native_mistakes() {
  return {
      {"spec-signature-mismatch", "two tokens swapped",
       [](Place& place) {
         return mismatch(place, {"ret", "arg"}, "void f(const BE::Tensor x, BE::Tensor y)");
       }},
      {"spec-signature-mismatch", "a parameter left out",
       [](Place& place) {
         return mismatch(place, {"arg", "ret"},
                         "void f(const BE::Tensor x, float* scale, BE::Tensor y)");
       }},
      {"spec-operand-mismatch", "an operand too many",
       [](Place& place) {
         if (!has_plain_inputs(place.item) || !place.item.contains("outputs")) return false;
         Json spec = {"ret"};
         for (std::size_t at = 0; at <= count(place.item["inputs"]); ++at) spec.push_back("arg");
         Json* kernel = call_target(place, spec);
         if (kernel == nullptr || has(*kernel, "function")) return false;
         kernel->erase("native_signature");
         return true;
       }},
      target_mistake("api-version-kind", "a typed handler under the number of untyped ones",
                     [](Place& place) {
                       if (!has(place.item, "api_version") || place.item["api_version"] == 0) {
                         return false;
                       }
                       place.item["handler_kind"] = "typed";
                       place.item["api_version"] = 0;
                       return true;
                     }),
      target_mistake("api-version-kind", "an untyped handler under the number of typed ones",
                     [](Place& place) {
                       if (!has(place.item, "api_version")) return false;
                       place.item["handler_kind"] = "untyped";
                       place.item["api_version"] = 1;
                       return true;
                     }),
      target_mistake("handler-stage-lost", "only the last stage of a bundle",
                     [](Place& place) {
                       if (!has(place.item, "stages") || place.item["stages"].size() != 1) {
                         return false;
                       }
                       place.item["declared_stages"] = {"instantiate", place.item["stages"][0]};
                       return true;
                     }),
      target_mistake("artifact-missing", "a library that was not installed",
                     [](Place& place) {
                       return describe_library(place, {{"found", false}});
                     }),
      target_mistake("artifact-stale", "a library that was built again",
                     [](Place& place) {
                       return describe_library(place, {{"digest", "sha256:4f00"},
                                                       {"found", true},
                                                       {"found_digest", "sha256:4f01"}});
                     }),
  };
}

}  // namespace opseal::test
