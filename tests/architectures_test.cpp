#include "rules/architectures.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/support.h"

namespace opseal::test {
namespace {

// The architecture in its own spelling, or `none`.
std::string read(std::string_view word) {
  const std::optional<Architecture> architecture = read_architecture(word);
  return architecture ? to_text(*architecture) : "none";
}

Architecture of(std::string_view word) { return read_architecture(word).value(); }
bool runs(std::string_view code, std::string_view device) {
  return machine_code_runs(of(code), of(device));
}
bool compiles(std::string_view ptx, std::string_view device) {
  return ptx_compiles(of(ptx), of(device));
}

}  // namespace

TEST_CASE("an architecture is read in each system's spelling") {
  for (const char* word : {"sm_90a", "SM90a", "sm90a", "compute_90a", "lto_90a", "9.0a", "90a",
                           "90a-real", "9.0a+PTX", "90a-virtual"}) {
    INFO(word);
    CHECK(read(word) == "sm_90a");
  }
  CHECK(read("8.6+PTX") == "sm_86");
  CHECK(read("12.1") == "sm_121");
  CHECK(read("sm_100f") == "sm_100f");
  CHECK(read("10.3f") == "sm_103f");
}

TEST_CASE("a device that this version never heard of is an architecture") {
  CHECK(read("sm_235a") == "sm_235a");
  CHECK(read("19.9") == "sm_199");
}

TEST_CASE("what names no single CUDA architecture is none") {
  for (const char* word :
       {"", "sm_", "9", "native", "all-major", "gfx90a", "hopper", "sm_9x", "90b", "1000", "9.12",
        "0.5", "sm_90aa", "9.", ".0", "sm_-90", "sm_90 a", "90000000000000000000000000000000000"}) {
    INFO(word);
    CHECK(read(word) == "none");
  }
}

TEST_CASE("machine code runs on its own architecture and later ones of its major number") {
  CHECK(runs("sm_80", "8.0"));
  CHECK(runs("sm_80", "8.9"));
  CHECK(!runs("sm_86", "8.0"));
  CHECK(!runs("sm_80", "9.0"));
  CHECK(!runs("sm_120", "10.0"));
}

TEST_CASE("code for one device's features runs on exactly that device, a family's on its family") {
  CHECK(runs("sm_90a", "9.0"));
  CHECK(runs("sm_100a", "10.0"));
  CHECK(!runs("sm_100a", "10.3"));
  CHECK(runs("sm_100f", "10.3"));
  CHECK(!runs("sm_103f", "10.0"));
  CHECK(!runs("sm_100f", "12.0"));
}

TEST_CASE("embedded boards and other devices are not taken to serve each other") {
  CHECK(runs("sm_87", "8.7"));
  CHECK(!runs("sm_80", "8.7"));
  CHECK(!runs("sm_87", "8.9"));
  CHECK(!runs("sm_70", "7.2"));
  CHECK(!runs("sm_72", "7.5"));
  // PTX is compiled for whatever is there.
  CHECK(compiles("sm_80", "8.7"));
  CHECK(compiles("sm_72", "7.5"));
}

TEST_CASE("PTX is compiled upwards, unless it uses one device's or one family's features") {
  CHECK(compiles("sm_75", "12.1"));
  CHECK(!compiles("sm_80", "7.5"));
  CHECK(compiles("sm_90a", "9.0"));
  CHECK(!compiles("sm_90a", "10.0"));
  CHECK(compiles("sm_100f", "10.3"));
  CHECK(!compiles("sm_100f", "12.0"));
}

TEST_CASE("the driver that a PTX version needs is that of the release which brought it") {
  CHECK(release_for_ptx("9.0") == "13.0");
  CHECK(release_for_ptx("8.5") == "12.5");
  CHECK(release_for_ptx("7.0") == "11.0");
  CHECK(release_for_ptx("99.0") == "");
  CHECK(release_for_ptx("") == "");
}

TEST_CASE("a fleet holds each device once, whatever its spelling") {
  const Facts facts = read_text(
      R"({"opseal_manifest": 1, "architectures": ["sm_90a", "9.0", "gfx942", "compute_80", "80"]})");
  const std::vector<FleetMember> fleet = fleet_of(facts, facts.root(facts.documents.at(0)));
  REQUIRE(fleet.size() == 2);
  CHECK(to_text(fleet[0].device) == "sm_90");
  CHECK(fleet[0].stated.text() == "sm_90a");
  CHECK(to_text(fleet[1].device) == "sm_80");
}

}  // namespace opseal::test
