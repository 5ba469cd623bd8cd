#include <algorithm>
#include <string>

#include "tests/mutants/families.h"

namespace opseal::test {
namespace {

bool has_row(const Json& op, const char* platform) {
  return std::any_of(at(op, "kernels").begin(), at(op, "kernels").end(),
                     [platform](const Json& kernel) { return kernel["platform"] == platform; });
}

// Takes away what differentiates the operator. False where nothing would be left.
bool drop_gradients(Json& op) {
  if (!has_items(op, "kernels")) return false;
  Json rest = Json::array();
  for (const Json& kernel : op["kernels"]) {
    const std::string platform = kernel["platform"];
    if (!platform.starts_with("Autograd") && platform != "CompositeImplicitAutograd") {
      rest.push_back(kernel);
    }
  }
  if (op.contains("gradient")) op["gradient"] = nullptr;
  op["kernels"] = rest;
  return has_row(op, "CPU") || has_row(op, "CUDA");
}

// `scale` of `lib::scale.out`.
std::string base_of(const Json& op) {
  std::string name = op["name"];
  const std::size_t colons = name.rfind("::");
  if (colons != name.npos) name.erase(0, colons + 2);
  return name.substr(0, name.find('.'));
}

// No operator beside it could be another half of it.
bool stands_alone(const Place& place, const std::string& base) {
  std::size_t near = 0;
  for (const Json& op : place.manifest["operators"]) near += base_of(op).starts_with(base) ? 1 : 0;
  return near == 1;
}

Json composite_kernel(const char* function) {
  return {{"platform", "CompositeImplicitAutograd"}, {"function", {{"name", function}}}};
}

bool is_forward_name(const std::string& base) {
  for (const char* ending : {"_backward", "_bwd", "_grad", "_forward", "_fwd", "_impl"}) {
    if (base.ends_with(ending)) return false;
  }
  return true;
}

}  // namespace

std::vector<Mistake> autograd_mistakes() {
  return {
      {"grad-unmarked", "said to be differentiable, and nothing differentiates it",
       [](Place& place) {
         if (!is_system(place, "torch") || !drop_gradients(place.item)) return false;
         place.item["differentiable"] = true;
         place.item["gradient"] = nullptr;
         return true;
       }},
      {"grad-dtype-narrower", "a backward for one floating dtype of several",
       [](Place& place) {
         for (const Json& kernel : at(place.item, "kernels")) {
           const bool typed = has(kernel, "dtypes");
           const Json& taken = typed ? kernel["dtypes"] : at(at(kernel, "type_constraints"), "T");
           const Json half = typed ? "f16" : "tensor(float16)";
           if (!holds(taken, half) || holds(at(kernel, "failed"), half)) continue;
           place.item["gradient"] = {{"function", {{"name", "pkg.backward"}}},
                                     {"dtypes", {typed ? "f32" : "tensor(float)"}}};
           return true;
         }
         return false;
       }},
      {"autograd-below-key", "a backward that is set up in the kernel for a device",
       [](Place& place) {
         Json& op = place.item;
         if (!is_system(place, "torch") || !drop_gradients(op)) return false;
         op.erase("gradient");
         for (Json& kernel : op["kernels"]) {
           const std::string platform = kernel["platform"];
           if (platform == "CPU" || platform == "CUDA") kernel["uses"] = {"PlantedFunction"};
         }
         return true;
       }},
      {"composite-device-kernel", "a kernel for one device registered without a key",
       [](Place& place) {
         Json& op = place.item;
         if (!is_system(place, "torch") || !drop_gradients(op)) return false;
         op.erase("gradient");
         op["kernels"] = {composite_kernel("planted_cpu"),
                          {{"platform", "CUDA"}, {"function", {{"name", "planted_cuda"}}}}};
         return true;
       }},
      {"fake-on-composite", "a shape function beside a composite kernel",
       [](Place& place) {
         Json& op = place.item;
         if (!is_system(place, "torch") || !drop_gradients(op)) return false;
         op.erase("gradient");
         op["kernels"] = Json::array({composite_kernel("planted")});
         op["abstract"] = {{"name", "planted_shape"},
                           {"location", {{"file", "shapes.py"}, {"line", 1}}}};
         place.beside["producer"] = {{"name", "sources"}};
         place.beside["tree"] = {{"files", 1}, {"partial", false}};
         return true;
       }},
      {"fake-on-meta", "a shape function beside a kernel of C++ for Meta",
       [](Place& place) {
         Json& op = place.item;
         if (!is_system(place, "torch") || !drop_gradients(op)) return false;
         op.erase("gradient");
         op["kernels"] = {{{"platform", "Meta"}, {"location", {{"file", "ops.cpp"}, {"line", 1}}}}};
         op["abstract"] = {{"name", "planted_shape"},
                           {"location", {{"file", "shapes.py"}, {"line", 1}}}};
         place.beside["producer"] = {{"name", "sources"}};
         place.beside["tree"] = {{"files", 2}, {"partial", false}};
         return true;
       }},
      {"autocast-missing", "a kernel for one more device than is cast for",
       [](Place& place) {
         Json& op = place.item;
         if (!is_system(place, "torch") || !drop_gradients(op)) return false;
         op.erase("gradient");
         Json other = op;
         other["name"] = text_of(op, "name") + "_cast";
         other["kernels"] = {{{"platform", "XPU"}}, {{"platform", "AutocastXPU"}}};
         op["kernels"] = {
             {{"platform", "XPU"}}, {{"platform", "AutocastCPU"}}, {{"platform", "AutocastCUDA"}}};
         place.added.push_back(other);
         place.beside["producer"] = {{"name", "sources"}};
         place.beside["tree"] = {{"files", 1}, {"partial", false}};
         return true;
       }},
      {"vmap-without-setup-context", "a rule for vmap beside a forward with a context",
       [](Place& place) {
         if (!is_system(place, "torch-autograd")) return false;
         place.item["batching"] = {{"kind", "custom"}};
         place.item["separated"] = false;
         return true;
       }},
      {"gradient-guard-index", "a gradient that is made if another input needs one",
       [](Place& place) {
         Json& op = place.item;
         if (!has(op, "gradient") || !op["gradient"].is_object()) return false;
         if (!has(op["gradient"], "function")) return false;
         op["gradient"]["requires"] = {{{"input", 0}, {"value", 1}}};
         return true;
       }},
      {"forward-write-unmarked", "an input that the forward writes to, and that isn't marked",
       [](Place& place) {
         if (!is_system(place, "torch-autograd")) return false;
         place.item["writes"] = {"planted"};
         place.item["mutates_args"] = Json::array();
         return true;
       }},
      {"gradient-gate-saved", "a backward that asks what the forward made",
       [](Place& place) {
         Json& op = place.item;
         if (!is_system(place, "torch-autograd") || !has(op, "gradient")) return false;
         if (!op["gradient"].is_object()) return false;
         op["gradient"]["function"] = {{"name", "planted_backward"}};
         op["gradient"]["gate_reads"] = {"planted"};
         op["gradient"]["local"] = {"planted"};
         return true;
       }},
      {"saved-count-mismatch", "a backward that takes one saved value too few",
       [](Place& place) {
         Json& op = place.item;
         if (!is_system(place, "torch-autograd") || !has(op, "gradient")) return false;
         if (!op["gradient"].is_object()) return false;
         op["gradient"]["writes"] = {3};
         op["gradient"]["reads"] = {2};
         return true;
       }},
      {"gradient-signature", "a function of the gradient that takes too few arguments",
       [](Place& place) {
         Json& op = place.item;
         if (!has(op, "gradient") || !op["gradient"].is_object()) return false;
         op["gradient"]["calls"] = {
             {{"function", {{"name", "planted_backward"}, {"positional", 1}, {"required", 1}}},
              {"kind", "backward"},
              {"positional", 2}}};
         return true;
       }},
      {"attribute-unread", "a batching rule that leaves a parameter out",
       [](Place& place) {
         if (!is_system(place, "jax")) return false;
         place.item["attributes"] = {{{"name", "planted"}}};
         place.item["batching"] = {{"kind", "custom"}, {"uses", Json::array()}};
         return true;
       }},
      {"attribute-untaken", "a batching rule that lacks an attribute",
       [](Place& place) {
         if (!is_system(place, "jax")) return false;
         Json& op = place.item;
         op["attributes"] = {{{"name", "planted"}}};
         op["batching"] = {{"kind", "custom"},
                           {"function",
                            {{"name", "planted_batch"},
                             {"positional", 2},
                             {"required", 2},
                             {"parameters", {"args", "dims"}},
                             {"names", Json::array()}}}};
         return true;
       }},
      {"batch-axes-returned", "a batching rule that hands its axes back",
       [](Place& place) {
         if (!is_system(place, "jax")) return false;
         place.item["multiple_results"] = false;
         place.item["batching"] = {
             {"kind", "custom"}, {"results", "inputs"}, {"function", {{"name", "planted_batch"}}}};
         return true;
       }},
      {"jvp-nonsequence", "a JVP rule that hands one value back for several",
       [](Place& place) {
         if (!is_system(place, "jax")) return false;
         place.item["multiple_results"] = true;
         place.item["jvp"] = {
             {"kind", "custom"}, {"results", "one"}, {"function", {{"name", "planted_jvp"}}}};
         return true;
       }},
      {"batch-unmapped", "a batching rule that asks for no axis",
       [](Place& place) {
         const Json& inputs = at(place.item, "inputs");
         if (!is_system(place, "jax") || !inputs.is_number() || inputs < 2) return false;
         place.item["batching"] = {
             {"kind", "custom"}, {"checked", false}, {"function", {{"name", "planted_batch"}}}};
         return true;
       }},
      {"gradient-form", "a backward that returns the gradient itself",
       [](Place& place) {
         if (!is_system(place, "jax-derivatives") || at(place.item, "inputs") != 1) return false;
         place.item["gradient"] = {{"returns", 1}, {"form", "value"}};
         return true;
       }},
      {"gradient-order", "a backward that takes what has no gradient last",
       [](Place& place) {
         if (!is_system(place, "jax-derivatives")) return false;
         place.item["gradient"] = {
             {"calls",
              {{{"kind", "backward"},
                {"positional", 3},
                {"parameters", {"axis", "", ""}},
                {"function",
                 {{"name", "planted"}, {"positional", 3}, {"parameters", {"r", "g", "axis"}}}}}}}};
         return true;
       }},
      {"lowering-layout-open", "a lowering without layouts among others",
       [](Place& place) {
         if (!is_system(place, "jax") || !has(place.manifest, "tree")) return false;
         if (!has_items(place.item, "kernels")) return false;
         const Json fixed = {{"platform", "cuda"}, {"layout", "fixed"}};
         place.item["kernels"] = Json::array({fixed, fixed});
         place.item["kernels"].push_back({{"platform", "cpu"}, {"layout", "open"}});
         return true;
       }},
      {"lowering-platform", "a lowering for the name of a vendor",
       [](Place& place) {
         if (!is_system(place, "jax") || !has(place.manifest, "tree")) return false;
         if (!has_items(place.item, "kernels")) return false;
         place.item["kernels"][0]["platform"] = "nvidia";
         return true;
       }},
      {"lowering-uneven", "a lowering for the device that was forgotten",
       [](Place& place) {
         Json& op = place.item;
         if (!is_system(place, "jax") || !has(place.manifest, "tree")) return false;
         if (!has_items(op, "kernels") || !has_row(op, "cuda") || !has_row(op, "cpu")) return false;
         op["kernels"] = Json::array({{{"platform", "cpu"}}});
         return true;
       }},
      {"grad-integer-tangent", "a rule for an integer input",
       [](Place& place) {
         Json& op = place.item;
         if (!has_items(op, "traced_signatures") || !has(op, "jvp")) return false;
         if (op["jvp"]["kind"] != "per_input" || !at(op, "inputs").is_number()) return false;
         Json& rules = op["jvp"]["rules"];
         if (rules.size() != op["inputs"].get<std::size_t>()) return false;
         for (std::size_t slot = 0; slot < rules.size(); ++slot) {
           const std::string dtype = op["traced_signatures"][0][slot];
           if (!rules[slot].is_null() || !dtype.starts_with("int")) continue;
           rules[slot] = {{"name", "pkg.tangent_of_an_index"}};
           return true;
         }
         return false;
       }},
      {"autograd-key-missing", "a backward operator that nothing connects",
       [](Place& place) {
         Json& op = place.item;
         if (!is_system(place, "torch") || !has(op, "schema") || !is_forward_name(base_of(op))) {
           return false;
         }
         if (text_of(op, "schema").find('!') != std::string::npos) return false;
         if (!stands_alone(place, base_of(op)) || !drop_gradients(op)) return false;
         const std::string space = op["namespace"];
         place.added.push_back(
             {{"name", space + "::" + base_of(op) + "_backward"},
              {"namespace", space},
              {"schema", space + "::" + base_of(op) + "_backward(Tensor grad) -> Tensor"},
              {"kernels", {{{"platform", "CPU"}}}}});
         return true;
       }},
      {"autograd-key-device", "the gradient bound to one of two devices",
       [](Place& place) {
         Json& op = place.item;
         if (!has_row(op, "CPU") || !has_row(op, "CUDA") || is_null(op, "gradient")) return false;
         Json* gradient = nullptr;
         for (Json& kernel : op["kernels"]) {
           const std::string platform = kernel["platform"];
           if (platform.starts_with("Composite")) return false;
           if (!platform.starts_with("Autograd")) continue;
           if (platform != "Autograd" || gradient != nullptr) return false;
           gradient = &kernel;
         }
         if (gradient == nullptr) return false;
         (*gradient)["platform"] = "AutogradCUDA";
         return true;
       }},
      {"grad-arity", "more gradients than inputs and attributes",
       [](Place& place) {
         if (!at(place.item, "inputs").is_number()) return false;
         place.item["gradient"] = {{"function", {{"name", "pkg.backward"}}},
                                   {"returns", place.item["inputs"].get<std::size_t>() +
                                                   at(place.item, "attributes").size() + 1}};
         return true;
       }},
      {"grad-orphan", "a gradient operator that nobody registers",
       [](Place& place) {
         std::string name = text_of(place.item, "name");
         const std::size_t dot = name.find('.', name.find("::") + 1);
         if (dot != name.npos) name.erase(dot);
         place.item["gradient"] = {{"operator", name + "_gradient_of_nobody"}};
         return true;
       }},
      {"batch-missing", "no batching rule where a kernel is to be batched",
       [](Place& place) {
         if (!has_items(place.item, "kernels")) return false;
         place.item["batching"] = nullptr;
         place.item["kernels"].front()["launch"] = {{"vmap_method", "sequential"}};
         return true;
       }},
      {"batch-fixed-launch", "a fixed grid that is batched by broadcasting",
       [](Place& place) {
         if (!has_items(place.item, "kernels") || is_null(place.item, "batching")) return false;
         place.item["kernels"].front()["launch"] = {{"grid", "fixed"},
                                                    {"vmap_method", "broadcast_all"}};
         return true;
       }},
  };
}

}  // namespace opseal::test
