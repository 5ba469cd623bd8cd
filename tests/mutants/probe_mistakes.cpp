#include <string>
#include <utility>
#include <vector>

#include "tests/mutants/families.h"

namespace opseal::test {
namespace {

Json operand(const char* dtype) {
  return {{"dtypes", Json::array({dtype})}, {"shape", Json::array({3})}};
}

// A call of a kernel of one of the registry's operators, beside an honest one.
bool add_probe(Place& place, Json fault) {
  Json& item = place.item;
  if (!has_items(place.manifest, "operators")) return false;
  Json probe = {{"kind", "call"},
                {"identity", "libkernels.so:Kernel/call/f32,f32/n=3"},
                {"operator", place.manifest["operators"][0]["name"]},
                {"library", "libkernels.so"},
                {"symbol", "Honest"},
                {"status", "passed"},
                {"arguments", Json::array({operand("f32")})},
                {"results", Json::array({operand("f32")})},
                {"declared", true}};
  item["probes"] = Json::array({probe});
  probe["symbol"] = "Liar";
  probe.update(fault);
  item["probes"].push_back(std::move(probe));
  return true;
}

bool add_deviation(Place& place, const char* kind, Json more = Json::object()) {
  Json deviation = {{"kind", kind}, {"name", "result 0"}, {"index", 1}, {"elements", 1}};
  more["status"] = "differs";
  more["deviations"] = Json::array({std::move(deviation)});
  return add_probe(place, std::move(more));
}

}  // namespace

std::vector<Mistake> probe_mistakes() {
  return {
      {"probe-unwritten", "an element that nobody writes",
       [](Place& place) { return add_deviation(place, "unwritten"); }, ""},
      {"probe-out-of-bounds", "a write beside a buffer",
       [](Place& place) { return add_deviation(place, "out_of_bounds"); }, ""},
      {"probe-bitstable", "other bits for equal inputs",
       [](Place& place) {
         return add_deviation(place, "unstable", {{"bit_stable", true}});
       },
       ""},
      {"probe-never-served", "an attribute of another name",
       [](Place& place) {
         return add_probe(place, {{"status", "refused"}, {"reason", "Attribute name mismatch"}});
       },
       ""},
      {"probe-refused-again", "a call that is served once",
       [](Place& place) { return add_deviation(place, "refused_again"); }, ""},
      {"probe-alternatives", "two kernels that compute two things",
       [](Place& place) {
         return add_deviation(place, "alternative", {{"counterpart", "a"}, {"method", "alike"}});
       },
       ""},
      {"probe-ulp", "a value too far off",
       [](Place& place) {
         return add_deviation(place, "value", {{"counterpart", "a"}});
       },
       ""},
      {"probe-inplace-lost", "an update that is lost",
       [](Place& place) { return add_deviation(place, "in_place"); }, ""},
      {"jvp-numeric", "a kernel's tangent that is none",
       [](Place& place) {
         return add_deviation(place, "jvp", {{"kind", "jvp"}});
       },
       ""},
      {"jvp-numeric", "a kernel's value beside a tangent that is another one",
       [](Place& place) {
         return add_deviation(place, "repeated", {{"kind", "jvp"}});
       },
       ""},
      {"transpose-numeric", "a kernel's gradient that is none",
       [](Place& place) {
         return add_deviation(place, "transpose", {{"kind", "transpose"}});
       },
       ""},
      {"probe-narrow", "64 bits of which 32 are lost",
       [](Place& place) { return add_deviation(place, "narrow"); }, ""},
      {"probe-threads", "first calls that race",
       [](Place& place) {
         return add_deviation(place, "threads", {{"kind", "threads"}});
       },
       ""},
      {"probe-crash", "a call that ends the process",
       [](Place& place) {
         return add_probe(place, {{"status", "crashed"}, {"reason", "ended by SIGFPE"}});
       },
       ""},
      {"dtype-lies", "a declared dtype that is refused",
       [](Place& place) {
         return add_probe(place, {{"status", "refused"},
                                  {"reason", "Wrong buffer dtype: expected F64 but got F32"}});
       },
       ""},
      {"dtype-undeclared-accepts", "a dtype that nobody declared",
       [](Place& place) {
         return add_probe(place, {{"declared", false}});
       },
       ""},
      {"handler-metadata", "a handshake without an answer",
       [](Place& place) {
         return add_probe(place, {{"kind", "metadata"}, {"status", "refused"}});
       },
       ""},
      {"probe-signature", "a handler that takes something else",
       [](Place& place) {
         return add_deviation(place, "signature", {{"kind", "signature"}});
       },
       ""},
  };
}

}  // namespace opseal::test
