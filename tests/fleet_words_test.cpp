// A fleet that isn't understood must not pass for one that is served.

#include "rules/fleet_words.h"

#include <doctest/doctest.h>

#include "cli/settings.h"
#include "tests/support.h"
#include "tests/tree.h"

namespace opseal::test {
namespace {

// What `--arch` states, each with the text that it points at, or the complaint.
std::string stated(const std::vector<std::string>& architectures) {
  Options options;
  options.command = Command::check;
  options.architectures = architectures;
  try {
    const StatedSettings stated = make_settings(options).stated;
    std::string text;
    for (const StatedSettings::Text& word : stated.architectures) {
      CHECK(stated.file.bytes.substr(word.offset, word.length) == word.value);
      text += word.value + ' ';
    }
    return text;
  } catch (const UsageError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("a fleet is stated in each spelling of builds") {
  const Tree tree;
  CHECK(stated({"sm_80", "sm_90"}) == "sm_80 sm_90 ");
  CHECK(stated({"sm_80 sm_90"}) == "sm_80 sm_90 ");
  CHECK(stated({"sm_80;sm_90a", "10.0"}) == "sm_80 sm_90a 10.0 ");
  CHECK(stated({"8.0;9.0+PTX"}) == "8.0 9.0+PTX ");
  CHECK(stated({" 80-real, 90-virtual;"}) == "80-real 90-virtual ");
  CHECK(stated({"gfx90a", "gfx942:sramecc+:xnack-"}) == "gfx90a gfx942:sramecc+:xnack- ");
}

TEST_CASE("a misspelt fleet is a mistake of the command line") {
  const Tree tree;
  CHECK(stated({"sm_9"}) == "`--arch`: `sm_9` names no GPU architecture; did you mean `sm_90`?");
  CHECK(stated({"Hopper"}) ==
        "`--arch`: `Hopper` names no GPU architecture; did you mean `sm_90`?");
  CHECK(stated({"sm_80;9"}) == "`--arch`: `9` names no GPU architecture; did you mean `sm_90`?");
  CHECK(stated({"sm-86"}) == "`--arch`: `sm-86` names no GPU architecture; did you mean `sm_86`?");
  CHECK(stated({"native"}) ==
        "`--arch`: `native` names no GPU architecture, expected one such as `sm_90`");
  CHECK(stated({"gfx"}) ==
        "`--arch`: `gfx` names no GPU architecture, expected one such as `sm_90`");
  for (const char* empty : {"", " ", ";,"}) {
    CHECK(stated({empty}) == "`--arch`: no architecture, expected one such as `sm_90`");
  }
}

TEST_CASE("a misspelt fleet is a mistake of the configuration, told with its place") {
  const Tree tree;
  tree.add("opseal.toml", "architectures = [\"sm_80\",\n \"sm_9O\"]\n");
  try {
    read_config("opseal.toml");
    FAIL("no complaint");
  } catch (const UsageError& error) {
    CHECK(std::string(error.what()) ==
          "opseal.toml:2:2: `sm_9O` names no GPU architecture; did you mean `sm_90`?");
  }
}

TEST_CASE("one text of the configuration states several architectures") {
  const Tree tree;
  tree.add("opseal.toml", "architectures = [\"8.0;9.0+PTX\"]\n");
  const StatedSettings stated = make_settings(Options{}).stated;
  REQUIRE(stated.architectures.size() == 2);
  CHECK(stated.architectures[1].value == "9.0+PTX");
  CHECK(stated.architectures[1].length == 13);
}

}  // namespace opseal::test
