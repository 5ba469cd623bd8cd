// What frameworks did when they were asked.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/mutants/families.h"

namespace opseal::test {
namespace {

// A check that passed in the release before.
bool differ(Place& place, std::string_view name) {
  if (text_of(place.item, "kind") != "framework" || text_of(place.item, "name") != name) {
    return false;
  }
  if (text_of(place.item, "status") != "passed") return false;
  place.item["status"] = "differs";
  return true;
}

bool break_switch(Place& place) { return differ(place, "backend-switch"); }
bool break_warm_switch(Place& place) { return differ(place, "backend-warmcache"); }
bool break_batch(Place& place) { return differ(place, "batch"); }
bool break_nested_batch(Place& place) { return differ(place, "batch-nested"); }
bool break_error(Place& place) { return differ(place, "error-no-kernel"); }
bool break_targets(Place& place) { return differ(place, "targets-per-shape"); }
bool break_rebuild(Place& place) { return differ(place, "rebuild-same-target"); }
bool break_ownership(Place& place) { return differ(place, "callback-ownership"); }

// An operator of the registry that its framework called.
bool add_call(Place& place, std::string_view name) {
  if (!has_items(place.manifest, "operators")) return false;
  Json row = {{"kind", "framework"},
              {"identity", "jax/op/jvp/f64,f64/n=3/x"},
              {"operator", place.manifest["operators"][0]["name"]},
              {"system", "jax"},
              {"name", name},
              {"input", "x"},
              {"status", "passed"},
              {"expected", "0.5"},
              {"seen", "0.5"}};
  place.item["probes"] = Json::array({row});
  row["identity"] = "jax/op/jvp/f64,f64/n=3/y";
  row["input"] = "y";
  row["status"] = "differs";
  row["seen"] = "0";
  place.item["probes"].push_back(std::move(row));
  return true;
}

bool lose_tangent(Place& place) { return add_call(place, "jvp"); }
bool break_transpose(Place& place) { return add_call(place, "transpose"); }
bool break_trace(Place& place) { return add_call(place, "etp"); }

}  // namespace

std::vector<Mistake> framework_mistakes() {
  constexpr const char* table = "probes";
  return {
      {"backend-switch-ineffective", "calls no longer follow the default", break_switch, table},
      {"backend-warmcache", "compiled calls no longer follow the default", break_warm_switch,
       table},
      {"batch-mismatch", "a batch goes into one launch", break_batch, table},
      {"batch-nested", "a second batch axis is taken for rows", break_nested_batch, table},
      {"jvp-numeric", "a rule leaves an input out", lose_tangent, ""},
      {"transpose-numeric", "a rule transposes nothing", break_transpose, ""},
      {"etp-xydw-numeric", "a rule for traces forgets a factor", break_trace, ""},
      {"error-context-empty", "the error no longer names the platforms", break_error, table},
      {"key-ignores-shape-leak", "shapes come into the key of a target", break_targets, table},
      {"probe-framework", "the handler is no longer kept", break_ownership, table},
      {"rebuild-stale-dispatch", "a rebuilt library is taken for the old one", break_rebuild,
       table},
  };
}

}  // namespace opseal::test
