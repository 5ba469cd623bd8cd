// Code for devices, as sources say it.

#include <string>

#include "tests/mutants/families.h"

namespace opseal::test {
namespace {

bool test_architecture_on_host(Place& place) {
  if (has(place.manifest, "arch_tests")) return false;
  place.item["arch_tests"] = Json::array(
      {{{"condition", "__CUDA_ARCH__ >= 800"}, {"side", "host_compiler"}, {"status", "never"}}});
  return true;
}

bool forget_check(Place& place) {
  if (has(place.manifest, "launches")) return false;
  place.item["launches"] = Json::array(
      {{{"kernel", "added"}, {"checked", true}}, {{"kernel", "removed"}, {"checked", false}}});
  return true;
}

bool forget_device(Place& place) {
  if (has(place.manifest, "launches")) return false;
  place.item["launches"] =
      Json::array({{{"kernel", "warp"}, {"function", "warp"}, {"pinned", true}},
                   {{"kernel", "roll"}, {"function", "roll"}, {"pinned", false}}});
  return true;
}

bool keep_pointer_of_copy(Place& place) {
  if (has(place.manifest, "pointers")) return false;
  place.item["pointers"] =
      Json::array({{{"expression", "x.contiguous().data_ptr<float>()"}, {"holder", "temporary"}}});
  return true;
}

bool forget_one_layout(Place& place) {
  if (has(place.manifest, "pointers")) return false;
  Json pointers = Json::array();
  for (const char* name : {"x", "w", "lengths"}) {
    pointers.push_back({{"expression", name + std::string(".data_ptr()")},
                        {"function", "run"},
                        {"contiguous", std::string(name) != "lengths"}});
  }
  place.item["pointers"] = pointers;
  return true;
}

bool cast_number(Place& place) {
  if (has(place.manifest, "pointers")) return false;
  place.item["pointers"] = Json::array(
      {{{"expression", "&one"}, {"type", "float"}, {"value", "1.0f"}, {"cast", "half"}}});
  return true;
}

bool forget_strides(Place& place) {
  if (has(place.manifest, "device_functions")) return false;
  place.item["device_functions"] =
      Json::array({{{"name", "roll"},
                    {"parameters", Json::array({"x", "ne0", "ne1", "nb0", "nb1"})},
                    {"unread", Json::array({"nb0", "nb1"})}}});
  return true;
}

bool guard_whole_body(Place& place) {
  if (has(place.manifest, "device_functions") || has(place.manifest, "launches")) return false;
  place.item["device_functions"] = Json::array(
      {{{"name", "roll"}, {"guard", "__CUDA_ARCH__ >= 800"}, {"otherwise", "nothing"}}});
  place.item["launches"] = Json::array({{{"kernel", "roll"}, {"conditions", Json::array()}}});
  return true;
}

bool ask_too_little(Place& place) {
  if (has(place.manifest, "device_functions") || has(place.manifest, "launches")) return false;
  place.item["device_functions"] =
      Json::array({{{"name", "roll"}, {"guard", "__CUDA_ARCH__ == 1000"}, {"otherwise", "trap"}}});
  place.item["launches"] = Json::array({{{"kernel", "roll"}, {"guard", "(sm >= 100)"}}});
  return true;
}

bool rename_bound(Place& place) {
  if (has(place.manifest, "functions")) return false;
  place.item["functions"] = Json::array({{{"name", "roll_forward"}, {"namespace", "pkg._C"}},
                                         {{"name", "roll_backward"}, {"namespace", "pkg._C"}}});
  place.item["uses"] = Json::array({{{"name", "roll_forwards"}, {"namespace", "pkg._C"}}});
  return true;
}

bool add_parameter(Place& place) {
  if (has(place.manifest, "functions")) return false;
  place.item["functions"] = Json::array(
      {{{"name", "roll"}, {"namespace", "pkg._C"}, {"positional", 3}, {"required", 3}}});
  place.item["uses"] = Json::array({{{"name", "roll"}, {"namespace", "pkg._C"}, {"arguments", 2}}});
  return true;
}

bool spell_argument(Place& place) {
  if (has(place.manifest, "functions")) return false;
  place.item["functions"] = Json::array(
      {{{"name", "Topo.run"}, {"namespace", "cpu/topo.cpp"}, {"parameters", {"x", "psi_raster"}}},
       {{"name", "Topo.run"},
        {"namespace", "cuda/topo.cpp"},
        {"parameters", {"x", "Psi_raster"}}}});
  return true;
}

bool drop_arguments(Place& place) {
  if (!is_system(place, "triton") || !has_items(place.item, "uses")) return false;
  place.item["uses"][0]["arguments"] = 0;
  place.item["uses"][0].erase("names");
  return true;
}

bool forget_result_type(Place& place) {
  if (!is_system(place, "ctypes") || !has_items(place.item, "functions")) return false;
  const Json& function = place.item["functions"][0];
  if (!has(function, "results") || function["results"] != Json::array({"pointer"})) return false;
  place.item["uses"].push_back({{"name", function["name"]},
                                {"namespace", function["namespace"]},
                                {"form", "call"},
                                {"results", {"default"}}});
  return true;
}

}  // namespace

std::vector<Mistake> device_mistakes() {
  return {
      {"host-arch-guard", "a choice between architectures moved to the host",
       test_architecture_on_host, ""},
      {"binding-arity", "a parameter that calls were not given", add_parameter, ""},
      {"binding-device-split", "an argument that is spelled otherwise for one device",
       spell_argument, ""},
      {"binding-undefined", "a function that was renamed on one side", rename_bound, ""},
      {"launch-arguments", "a launch that gives nothing", drop_arguments, ""},
      {"ctypes-signature", "a pointer whose type was not said", forget_result_type, ""},
      {"launch-unchecked", "a launch that was added without a check", forget_check, ""},
      {"device-unset", "a function that was added without a guard", forget_device, ""},
      {"layout-temporary", "a copy that was not given a name", keep_pointer_of_copy, ""},
      {"layout-unchecked", "a tensor that was added and not checked like the others",
       forget_one_layout, ""},
      {"dtype-raw-cast", "a number whose type was widened", cast_number, ""},
      {"arch-guarded-body", "a guard around all of a kernel", guard_whole_body, ""},
      {"arch-predicate-wider", "a question that later devices pass", ask_too_little, ""},
      {"layout-stride-unread", "offsets from sizes alone", forget_strides, ""},
  };
}

}  // namespace opseal::test
