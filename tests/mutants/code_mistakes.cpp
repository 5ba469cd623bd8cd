// Mistakes in what code says beside its registrations.

#include "tests/mutants/families.h"

namespace opseal::test {
namespace {

// A registrar of the code that the registry comes from.
bool add_registrar(Place& place, Json registrar) {
  place.beside["registrars"] = Json::array({std::move(registrar)});
  return true;
}

// Another kind that the predicate accepts on some conditions, and whose kernel asserts one.
bool assert_in_kernel(Place& place, Json conditions, const std::string& asserted) {
  place.item["predicate"]["kinds"].push_back("planted");
  place.item["predicate"]["always"].push_back("planted");
  place.item["predicate"]["conditions"]["planted"] = std::move(conditions);
  place.item["table"]["entries"].push_back(
      {{"kind", "planted"}, {"kernel", "planted_kernel"}, {"asserts", Json::array({asserted})}});
  return true;
}

}  // namespace

std::vector<Mistake> code_mistakes() {
  return {
      {"namespace-owned-twice", "a second block for a namespace",
       [](Place& place) {
         const Json block = {{"type", "TORCH_LIBRARY"}, {"namespace", "planted"}};
         place.beside["registrars"] = Json::array({block, block});
         return true;
       },
       ""},
      {"replace-unsupported", "a target that is registered again to replace its handler",
       [](Place& place) {
         return add_registrar(place, {{"type", "jax.ffi.register_ffi_target"}, {"replace", true}});
       }},
      {"error-context-empty", "an error that lists nothing",
       [](Place& place) {
         return add_registrar(place, {{"type", "KernelNotFound"}, {"listed", Json::array()}});
       }},
      {"registrar-automatic", "a library that is local to a function",
       [](Place& place) {
         return add_registrar(place,
                              {{"type", "Library"}, {"name", "library"}, {"storage", "automatic"}});
       }},
      {"registrar-capacity", "a resolver with room for one less than is added",
       [](Place& place) {
         return add_registrar(
             place,
             {{"type", "MicroMutableOpResolver"}, {"name", "resolver"}, {"max", 4}, {"calls", 5}});
       }},
      {"registrar-dropped", "a registrar in a static library of which nothing is named",
       [](Place& place) {
         place.beside["registrars"] =
             Json::array({{{"type", "TORCH_LIBRARY"}, {"library", "ops"}, {"loaded_by", {"app"}}}});
         return true;
       }},
      {"registrar-static-order", "a registrar that reads a table of another file",
       [](Place& place) {
         return add_registrar(
             place,
             {{"type", "Registrar"}, {"name", "scale"}, {"uses", {{{"name", "kernels::table"}}}}});
       }},
      {"register-status-ignored", "a result that nobody reads",
       [](Place& place) {
         return add_registrar(place, {{"type", "register_kernels"}, {"status", "dropped"}});
       }},
      {"failure-continued", "a kernel that goes on after its failure",
       [](Place& place) {
         return add_registrar(place, {{"type", "SetStatus"}, {"status", "continued"}});
       }},
      {"operator-name-foreign", "a kernel that was copied with its name",
       [](Place& place) {
         place.beside["registrars"] =
             Json::array({{{"type", "randn_out"}, {"operator", "randn.out"}},
                          {{"type", "rand_out"}, {"operator", "randn.out"}}});
         return true;
       }},
      {"predicate-constant", "a kernel that asserts what the predicate doesn't ask",
       [](Place& place) { return assert_in_kernel(place, Json::array(), "$->src[0]->type==F32"); },
       "dispatch"},
      {"predicate-guard-mismatch", "a kernel that wants a larger multiple than the predicate",
       [](Place& place) {
         return assert_in_kernel(place, Json::array({"$->src[0]->ne[0]%32==0"}),
                                 "$->src[0]->ne[0]%64==0");
       },
       "dispatch"},
      {"table-drift", "a name that one table lacks",
       [](Place& place) {
         Json kinds = Json::array();
         Json entries = Json::array();
         for (int at = 0; at < 12; ++at) {
           const std::string kind = "format_" + std::to_string(at);
           kinds.push_back(kind);
           if (at != 7) entries.push_back({{"kind", kind}, {"kernel", "f" + std::to_string(at)}});
         }
         place.item.erase("predicate");
         place.item.erase("table");
         place.item["kinds"] = kinds;
         place.item["agree"] =
             Json::array({Json{{"name", "names"}, {"match", "name"}, {"entries", entries}}});
         return true;
       },
       "dispatch"},
      {"any-backend-predicate", "a predicate that isn't told the backend any more",
       [](Place& place) {
         const Json f32 = {{"kind", "f32"}, {"kernel", "mul_f32"}};
         const Json f16 = {{"kind", "f16"}, {"kernel", "mul_f16"}};
         place.beside["dispatch"] = Json::array(
             {Json{{"operator", "mul"},
                   {"predicate", {{"kinds", {"f32", "f16"}}, {"takes_backend", false}}}},
              Json{{"operator", "mul"},
                   {"backend", "cuda"},
                   {"table", {{"entries", Json::array({f32, f16})}}}},
              Json{{"operator", "mul"},
                   {"backend", "vulkan"},
                   {"table", {{"entries", Json::array({f32})}}}}});
         return true;
       }},
      {"name-unbuildable", "a text for a kernel that nobody instantiated",
       [](Place& place) {
         const Json there = {{"kind", "float"}, {"kernel", "softmax_float"}};
         const Json lost = {{"kind", "bfloat"}, {"kernel", "softmax_bfloat"}};
         place.item.erase("predicate");
         place.item.erase("table");
         place.item["agree"] = Json::array(
             {Json{{"name", "name"}, {"match", "joined"}, {"entries", {there, lost}}},
              Json{{"name", "kernels"}, {"match", "defined"}, {"entries", Json::array({there})}}});
         return true;
       },
       "dispatch"},
      {"table-row-crossed", "a type that a row has from its neighbour",
       [](Place& place) {
         Json dots = Json::array();
         Json types = Json::array();
         for (const std::string format : {"A", "B", "C", "D"}) {
           dots.push_back({{"kind", "TYPE_" + format}, {"kernel", "dot_" + format + "_x"}});
           types.push_back(
               {{"kind", "TYPE_" + format}, {"kernel", format == "C" ? "TYPE_Y" : "TYPE_X"}});
         }
         place.item.erase("predicate");
         place.item.erase("table");
         place.item["agree"] =
             Json::array({Json{{"name", "dot"}, {"match", "row"}, {"entries", dots}},
                          Json{{"name", "dot_type"}, {"match", "row"}, {"entries", types}}});
         return true;
       },
       "dispatch"},
      {"fallback-drops-argument", "an argument that the fallback doesn't read",
       [](Place& place) {
         place.item["table"]["entries"] =
             Json::array({Json{{"kind", "fast"}, {"kernel", "fast"}, {"uses", {"x", "mask"}}},
                          Json{{"kind", "slow"}, {"kernel", "slow"}, {"uses", {"x"}}}});
         return true;
       },
       "dispatch"},
      {"enumerator-unused", "a format that only the predicate names",
       [](Place& place) {
         Json entries = Json::array();
         for (int at = 0; at < 12; ++at) {
           entries.push_back(
               {{"kind", "format_" + std::to_string(at)}, {"mentioned", at == 7 ? 0 : 5}});
         }
         place.item["predicate"]["tested"] =
             Json::array({Json{{"expression", "a->type"}, {"entries", entries}}});
         return true;
       },
       "dispatch"},
  };
}

}  // namespace opseal::test
