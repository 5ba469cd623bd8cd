#include <string>

#include "tests/mutants/families.h"

namespace opseal::test {
namespace {

// Registries that say no dtypes, and whose kernels are told apart by platform and backend.
bool says_no_dtypes(const Place& place) {
  return is_system(place, "brainevent") && has_items(place.item, "kernels");
}

bool has_platform(const Json& op, const std::string& platform) {
  for (const Json& kernel : op["kernels"]) {
    if (kernel["platform"] == platform) return true;
  }
  return false;
}

// Lets every kernel say what it takes; those of one platform lack the first dtype.
bool give_dtypes(Place& place, const Json& dtypes, const std::string& lacking) {
  if (!says_no_dtypes(place)) return false;
  if (!has_platform(place.item, "cpu") || !has_platform(place.item, "gpu")) return false;
  for (Json& kernel : place.item["kernels"]) {
    kernel["dtypes"] = dtypes;
    if (kernel["platform"] == lacking) kernel["dtypes"].erase(0);
  }
  return true;
}

// Writes the inputs as a list, with what is said of the first.
bool describe_first_input(Json& op, Json operand) {
  if (!at(op, "inputs").is_number() || op["inputs"] == 0) return false;
  Json inputs = Json::array();
  for (std::size_t at = 0; at < op["inputs"].get<std::size_t>(); ++at) {
    inputs.push_back(at == 0 ? operand : Json::object());
  }
  op["inputs"] = inputs;
  return true;
}

// A kernel of a backend that the registry doesn't have.
void add_kernel(Json& op, const char* platform, const char* backend, const Json& dtypes) {
  op["kernels"].push_back({{"platform", platform}, {"backend", backend}, {"dtypes", dtypes}});
}

}  // namespace

std::vector<Mistake> dtype_mistakes() {
  return {
      {"fallback-chain-hole", "the end of the chain lacks a dtype",
       [](Place& place) {
         place.item["fallback"] = {"cpu"};
         return give_dtypes(place, {"int32", "float32"}, "cpu");
       }},
      {"dtype-gap", "a dtype on one platform only",
       [](Place& place) {
         return give_dtypes(place, {"int64", "float32"}, "gpu");
       }},
      {"dtype-grid-hole", "the middle one of three widths forgotten",
       [](Place& place) {
         return give_dtypes(place, {"int32", "int16", "int64", "float32"}, "gpu");
       }},
      {"dtype-macro-narrower", "another macro for the device",
       [](Place& place) {
         if (!is_system(place, "torch") || !has_items(place.item, "kernels")) return false;
         const auto add = [&place](const char* platform, const Json& dtypes) {
           place.item["kernels"].push_back(
               {{"platform", platform}, {"dispatches", {{{"dtypes", dtypes}}}}});
         };
         add("XPU", {"f32", "f64", "bf16"});
         add("HPU", {"f32", "f64"});
         return true;
       }},
      {"dtype-declared-uncovered", "a dtype promised that no kernel takes",
       [](Place& place) {
         return give_dtypes(place, {"float32", "int32"}, "") &&
                describe_first_input(place.item, {{"dtypes", {"float32", "int32", "int64"}}});
       }},
      {"dtype-declared-uncovered", "a dtype promised that a ggml kernel doesn't take",
       [](Place& place) {
         if (!is_system(place, "ggml")) return false;
         const Json& kernel = place.item["kernels"].front();
         if (!has_items(kernel, "refused")) return false;
         Json promised = {kernel["dtypes"].front(), kernel["refused"].front()};
         place.item["inputs"] = {{{"name", "src"}, {"dtypes", promised}}};
         return true;
       }},
      {"dtype-backend-unsupported", "bf16 in a language without it",
       [](Place& place) {
         if (!says_no_dtypes(place)) return false;
         add_kernel(place.item, "webgpu", "wgsl", {"float32", "bfloat16"});
         return true;
       }},
      {"dtype-backend-unsupported", "doubles on Metal",
       [](Place& place) {
         if (!says_no_dtypes(place)) return false;
         add_kernel(place.item, "metal", "metal_raw", {"float32", "float64"});
         return true;
       }},
      {"dtype-zero-dim", "a scalar operand on a backend without scalars",
       [](Place& place) {
         if (!says_no_dtypes(place)) return false;
         add_kernel(place.item, "gpu", "warp", {"float32"});
         return describe_first_input(place.item, {{"name", "alpha"}, {"rank", 0}});
       }},
      {"dtype-attr-unsupported", "a complex attribute of a kernel that gets it encoded",
       [](Place& place) {
         if (!says_no_dtypes(place)) return false;
         place.item["attributes"] = {{{"name", "alpha"}, {"type", "complex64"}}};
         for (const Json& kernel : place.item["kernels"]) {
           if (kernel["backend"] == "cuda_raw" || kernel["backend"] == "numba") return true;
         }
         return false;
       }},
      {"ggml-file-format-name", "the name of a file's mix in place of a block type",
       [](Place& place) {
         for (Json& kernel : place.item["kernels"]) {
           if (!has(kernel, "dtypes")) continue;
           for (Json& dtype : kernel["dtypes"]) {
             if (dtype != "q4_K") continue;
             dtype = "Q4_K_M";
             return true;
           }
         }
         return false;
       }},
  };
}

}  // namespace opseal::test
