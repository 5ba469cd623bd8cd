// Mistakes in what code says beside its registrations.

#include "tests/mutants/families.h"

namespace opseal::test {
namespace {

// A registrar of the code that the registry comes from.
bool add_registrar(Place& place, Json registrar) {
  place.beside["registrars"] = Json::array({std::move(registrar)});
  return true;
}

}  // namespace

std::vector<Mistake> code_mistakes() {
  return {
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
      {"register-status-ignored", "a result that nobody reads",
       [](Place& place) {
         return add_registrar(place, {{"type", "register_kernels"}, {"status", "dropped"}});
       }},
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
