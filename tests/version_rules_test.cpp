// What fixtures can't show: inputs that are partly unread, and hostile ones.

#include <doctest/doctest.h>

#include <string>

#include "opseal/one_slip.h"
#include "rules/rules.h"
#include "rules/torch_names.h"
#include "rules/version_match.h"
#include "tests/support.h"

namespace opseal::test {
namespace {

RuleRun run(std::string_view id, const std::string& operators) {
  const Facts facts =
      read_text(R"({"opseal_manifest": 1, "system": "engine", "operators": [)" + operators + "]}");
  std::vector<Finding> findings;
  return run_rule(*find_rule(id), facts, findings);
}

const std::string old_version =
    R"({"name": "f", "versions": {"since": 9, "until": 21}, "kernels": [{"platform": "cpu", "versions": {"since": 9, "until": 21}}]},)";

TEST_CASE("an unread kernel may be the one that serves the newest version") {
  const std::string newest =
      R"({"name": "f", "versions": {"since": 22, "until": null}, "kernels": )";
  CHECK(run("version-behind", old_version + newest + "[]}").findings == 1);
  CHECK(run("version-behind", old_version + newest + "[17]}").inspected == 0);
  CHECK(run("version-behind", old_version + newest + R"([{"platform": 3}]})").inspected == 0);
}

TEST_CASE("an unread kernel may be the one that a definition lacks") {
  const std::string defined = R"({"name": "f", "schema": "f(Tensor x) -> Tensor", "kernels": )";
  CHECK(run("def-without-impl", defined + R"([{"platform": "Meta"}]})").findings == 1);
  CHECK(run("def-without-impl", defined + R"([{"platform": "Meta"}, 17]})").inspected == 0);
}

TEST_CASE("an unread operator may be the definition that a kernel lacks") {
  const std::string kernel = R"({"name": "f", "schema": null, "kernels": [{"platform": "cpu"}]})";
  CHECK(run("impl-without-def", kernel).findings == 1);
  CHECK(run("impl-without-def", kernel + ", 17").inspected == 0);
}

TEST_CASE("one operator with a hundred thousand versions, ranges and platforms") {
  std::string kernels;
  std::string operators;
  for (int i = 0; i < 100000; ++i) {
    kernels += (i == 0 ? "" : ",") + std::string(R"({"platform": "p)") + std::to_string(i % 1000) +
               R"(", "versions": {"since": 1, "until": )" + std::to_string(i + 1) + "}}";
    operators += R"(,{"name": "f", "kernels": [], "versions": {"since": )" +
                 std::to_string(i + 200000) + R"(, "until": null}})";
  }
  const std::string all = R"({"name": "f", "kernels": [)" + kernels + "]}" + operators;
  for (const char* rule :
       {"version-behind", "version-range-gap", "version-range-overlap", "version-provider-skew"}) {
    INFO(rule);
    CHECK(run(rule, all).inspected <= 2 * most_version_platforms);
  }
}

TEST_CASE("one slip of the keyboard") {
  CHECK(one_slip_apart("dynamic", "dyanmic"));
  CHECK(one_slip_apart("xformer", "xformers"));
  CHECK(one_slip_apart("scale", "scare"));
  CHECK(!one_slip_apart("scale", "scale"));
  CHECK(!one_slip_apart("conv1d", "conv2d"));
  CHECK(!one_slip_apart("conv", "conv2"));
  CHECK(!one_slip_apart("scale", "stare"));
  CHECK(!one_slip_apart("abc", "cba"));
}

TEST_CASE("parts of torch's names") {
  CHECK(namespace_in("aten::add.out") == "aten");
  CHECK(base_name("aten::add.out") == "add");
  CHECK(overload_name("aten::add.out") == "out");
  CHECK(namespace_in("add").empty());
  CHECK(overload_name("add").empty());
}

}  // namespace
}  // namespace opseal::test
