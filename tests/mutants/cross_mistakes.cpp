#include <algorithm>
#include <string>

#include "tests/mutants/families.h"
#include "tests/mutants/unmark.h"

namespace opseal::test {
namespace {

// Registers the operator a second time, as another framework's would be, and joins the two. What is
// returned is there to be spoilt; nullptr where no text would name the item alone.
Json* join_with_copy(Place& place) {
  if (has(at(place.item, "versions"), "until")) return nullptr;
  Json copy = place.item;
  const std::string name = text_of(place.item, "name");
  const std::string space = text_of(place.item, "namespace");
  std::string own = name;
  std::string other;
  if (space.empty()) {
    other = name + "_elsewhere";
    copy["name"] = other;
  } else if (name.starts_with(space + "::")) {
    other = "elsewhere" + name.substr(space.size());
    copy["name"] = other;
    copy["namespace"] = "elsewhere";
  } else {
    own = space + "::" + name;
    // Another domain of the same publisher, and another name, since a text that begins with the
    // name of a system is read as that too.
    other = space + ".elsewhere::" + name + "Elsewhere";
    copy["name"] = name + "Elsewhere";
    copy["namespace"] = space + ".elsewhere";
  }
  for (const char* key : {"jvp", "transpose", "etp", "linearization", "location"}) copy.erase(key);
  place.beside["joins"] = Json::array({{own, other}});
  place.added.push_back(std::move(copy));
  return &place.added.back();
}

bool is_plain(const Json& op) {
  const Json& inputs = at(op, "inputs");
  if (inputs.is_number()) return inputs != 0;
  return has_items(op, "inputs") &&
         std::all_of(inputs.begin(), inputs.end(), [](const Json& operand) {
           return !operand.value("optional", false) && !operand.value("variadic", false) &&
                  text_of(operand, "type").find('[') == std::string::npos &&
                  !operand.value("mutated", false);
         });
}

// Whether results are counted, so that nothing may stand among the inputs instead.
bool counts_outputs(const Json& op) {
  const Json& outputs = at(op, "outputs");
  return outputs.is_number() ? outputs != 0 : has_items(op, "outputs");
}

// Takes a dtype out of all that the kernels take; false where it isn't there or nothing is left.
bool refuse(Json& kernels, const Json& dtype) {
  bool dropped = false;
  bool left = false;
  const auto take_out = [&](Json& list) {
    dropped = drop(list, dtype) || dropped;
    left = left || !list.empty();
  };
  for (Json& kernel : kernels) {
    if (has(kernel, "dtypes")) take_out(kernel["dtypes"]);
    if (!has(kernel, "type_constraints")) continue;
    for (Json& list : kernel["type_constraints"]) take_out(list);
  }
  return dropped && left;
}

bool takes(const Json& kernel, const Json& dtype) {
  const Json& variables = at(kernel, "type_constraints");
  return std::any_of(variables.begin(), variables.end(),
                     [&dtype](const Json& list) { return holds(list, dtype); });
}

}  // namespace

std::vector<Mistake> cross_mistakes() {
  return {
      {"cross-arity", "an operand forgotten in one of two systems",
       [](Place& place) {
         // What they count are values of any kind, tensors or not.
         if (is_system(place, "tvm-ffi")) return false;
         if (!is_plain(place.item) || !counts_outputs(place.item)) return false;
         Json* copy = join_with_copy(place);
         if (copy == nullptr) return false;
         Json& inputs = (*copy)["inputs"];
         if (inputs.is_number()) {
           inputs = inputs.get<std::size_t>() - 1;
         } else {
           inputs.erase(inputs.size() - 1);
         }
         return true;
       }},
      {"cross-mutation", "a write marked in one of two systems",
       [](Place& place) {
         if (!is_system(place, "torch") || at(place.item, "outputs") != Json::array()) return false;
         // There `mutation-unmarked` sees it in the copy alone.
         if (text_of(place.item, "name").ends_with("out")) return false;
         Json* copy = join_with_copy(place);
         if (copy == nullptr || !has_items(*copy, "inputs")) return false;
         return unmark(*copy);
       }},
      {"cross-attributes", "an attribute under another name",
       [](Place& place) {
         if (!has_items(place.item, "attributes") || !has(place.item, "inputs")) return false;
         Json* copy = join_with_copy(place);
         if (copy == nullptr) return false;
         Json& name = any_of((*copy)["attributes"], place.random)["name"];
         if (!name.is_string()) return false;
         for (const char* plumbing :
              {"backend", "device", "dtype", "generator", "layout", "out", "memory_format",
               "pin_memory", "requires_grad", "stream", "out_dtype"}) {
           if (name == plumbing) return false;
         }
         name = name.get<std::string>() + "_in_other_words";
         return true;
       }},
      {"cross-dtype-gap", "a dtype in one of two systems",
       [](Place& place) {
         Json* copy = has_items(place.item, "kernels") ? join_with_copy(place) : nullptr;
         if (copy == nullptr) return false;
         if (refuse((*copy)["kernels"], "f16")) return !has_items(*copy, "fallback");
         return refuse((*copy)["kernels"], "tensor(float)");
       }},
      {"cross-version", "another version in one of two systems",
       [](Place& place) {
         if (!has(at(place.item, "versions"), "since") || place.item.value("deprecated", false)) {
           return false;
         }
         Json* copy = join_with_copy(place);
         if (copy == nullptr) return false;
         (*copy)["versions"]["since"] = (*copy)["versions"]["since"].get<std::size_t>() + 1;
         return true;
       }},
      {"cross-provider-gap", "a dtype with one provider only",
       [](Place& place) {
         if (!has_items(place.item, "kernels") || has(at(place.item, "versions"), "until")) {
           return false;
         }
         if (place.item.value("function_body", false)) return false;
         if (place.item.value("deprecated", false)) return false;
         Json& kernels = place.item["kernels"];
         if (kernels.size() != 2 || kernels[0]["platform"] == kernels[1]["platform"]) return false;
         const Json dtype = "tensor(float16)";
         if (!takes(kernels[0], dtype) || !takes(kernels[1], dtype)) return false;
         Json second = Json::array({kernels[1]});
         if (!refuse(second, dtype)) return false;
         kernels[1] = second.front();
         return true;
       }},
  };
}

}  // namespace opseal::test
