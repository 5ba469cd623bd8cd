// What frameworks did when they were asked.

#include <string>
#include <string_view>
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

}  // namespace

std::vector<Mistake> framework_mistakes() {
  constexpr const char* table = "probes";
  return {
      {"backend-switch-ineffective", "calls no longer follow the default", break_switch, table},
      {"backend-warmcache", "compiled calls no longer follow the default", break_warm_switch,
       table},
      {"batch-mismatch", "a batch goes into one launch", break_batch, table},
      {"batch-nested", "a second batch axis is taken for rows", break_nested_batch, table},
      {"error-context-empty", "the error no longer names the platforms", break_error, table},
      {"key-ignores-shape-leak", "shapes come into the key of a target", break_targets, table},
      {"probe-framework", "the handler is no longer kept", break_ownership, table},
      {"rebuild-stale-dispatch", "a rebuilt library is taken for the old one", break_rebuild,
       table},
  };
}

}  // namespace opseal::test
