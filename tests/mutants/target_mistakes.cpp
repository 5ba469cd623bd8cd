#include <string>
#include <utility>
#include <vector>

#include "tests/mutants/families.h"

namespace opseal::test {
namespace {

Mistake target_mistake(const char* rule, const char* what, bool (*make)(Place&)) {
  return {rule, what, make, "targets"};
}

// A target registered through a wrapper that reads such a spec. XLA's own binding takes more than a
// spec can say, so there it proves nothing.
bool add_target(Place& place, std::vector<std::string> spec) {
  if (!is_system(place, "brainevent") || !place.item.contains("targets")) return false;
  place.item["targets"].push_back(
      {{"name", "pkg.kernel"}, {"platform", "cpu"}, {"spec", std::move(spec)}});
  return true;
}

}  // namespace

std::vector<Mistake> target_mistakes() {
  return {
      target_mistake("name-charset", "a letter that no symbol can have",
                     [](Place& place) {
                       place.item["name"] = place.item["name"].get<std::string>() + "\u00e9";
                       return true;
                     }),
      target_mistake("name-counter", "named by a counter",
                     [](Place& place) {
                       place.item["name"] = place.item["name"].get<std::string>() + "_7";
                       place.item["name_from"] = "counter";
                       return true;
                     }),
      target_mistake("target-duplicate", "two handlers under one name",
                     [](Place& place) {
                       place.item["symbol"] = "first_handler";
                       place.added.push_back(place.item);
                       place.added.back()["symbol"] = "second_handler";
                       return true;
                     }),
      target_mistake("platform-string", "a spelling that is never looked up",
                     [](Place& place) {
                       if (place.item["platform"] != "cpu") return false;
                       place.item["platform"] = place.random() % 2 == 0 ? "CPU" : "cuda";
                       return true;
                     }),
      target_mistake("handler-unpinned", "a callback that nobody keeps",
                     [](Place& place) {
                       place.item["function"] = {{"name", "pkg.callback"}};
                       place.item.erase("library");
                       place.item["pinned"] = false;
                       return true;
                     }),
      {"spec-no-ret", "a spec without a result",
       [](Place& place) { return add_target(place, {"arg"}); }, ""},
      {"spec-dup-stream", "two streams",
       [](Place& place) {
         return add_target(place, {"stream", "arg", "ret", "stream"});
       },
       ""},
      {"spec-bad-token", "a misspelt token",
       [](Place& place) {
         return add_target(place, {"arg", "rett"});
       },
       ""},
      {"spec-bad-name", "an attribute that is no identifier",
       [](Place& place) {
         return add_target(place, {"arg", "ret", "attr.2n:int32"});
       },
       ""},
      {"spec-attr-type", "an attribute of a type that can't be encoded",
       [](Place& place) {
         return add_target(place, {"arg", "ret", "attr.n:complex64"});
       },
       ""},
      {"spec-call-mismatch", "an attribute under another name",
       [](Place& place) {
         if (!place.item.contains("targets")) return false;
         place.item["targets"].push_back(
             {{"name", "pkg.norm"}, {"spec", {"arg", "ret", "attr.eps:float32"}}});
         place.item["dispatch"].push_back(
             {{"operator", "pkg.norm"},
              {"lookups", {{{"operator", "pkg.norm"}, {"attributes", {{{"name", "epsilon"}}}}}}}});
         return true;
       },
       ""},
      {"handler-undefined", "a letter lost in the name of a handler",
       [](Place& place) {
         if (!place.item.contains("targets")) return false;
         place.item["handlers"] = {{{"symbol", "FooForward"}}};
         place.item["targets"].push_back({{"name", "pkg.foo"}, {"symbol", "FooFoward"}});
         return true;
       },
       ""},
      {"export-annotation-mismatch", "an announced function that is not there",
       [](Place& place) {
         if (!is_system(place, "brainevent")) return false;
         place.item["annotations"] = {{{"name", "add_f64"}, {"function", nullptr}}};
         return true;
       },
       ""},
      {"spec-annotation-duplicate", "a function that is announced twice",
       [](Place& place) {
         if (!is_system(place, "brainevent")) return false;
         place.item["annotations"] = {{{"name", "add_f64"}}, {{"name", "add_f64"}}};
         return true;
       },
       ""},
      {"target-prefix-clobber", "two libraries with one prefix",
       [](Place& place) {
         if (!place.item.contains("libraries")) return false;
         place.item["libraries"] = Json::array();
         for (const char* folder : {"one", "other"}) {
           place.item["libraries"].push_back({{"path", std::string(folder) + "/kernels.so"},
                                              {"digest", std::string("sha256:") + folder},
                                              {"symbols_prefix", "kernels"},
                                              {"functions", {"mv"}}});
         }
         return true;
       },
       ""},
  };
}

}  // namespace opseal::test
