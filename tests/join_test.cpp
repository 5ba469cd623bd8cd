// Which registrations are one operator, and what `[join]` of the configuration says about it.

#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "opseal/stated_joins.h"
#include "rules/cross_join.h"
#include "rules/cross_name.h"
#include "rules/rules.h"
#include "tests/support.h"

namespace fs = std::filesystem;

namespace opseal::test {
namespace {

// The folded name of the only registration of a manifest.
std::string folded(const std::string& system, const std::string& item, FoldedName& how,
                   bool target = false) {
  const Facts facts = read_text(R"({"opseal_manifest": 1, "system": ")" + system + "\", \"" +
                                (target ? "targets" : "operators") + "\": [" + item + "]}");
  REQUIRE(facts.problems.empty());
  const Fact manifest = facts.root(facts.documents.front());
  std::string key;
  how = fold_name(manifest, *manifest[target ? Key::targets : Key::operators].items().begin(),
                  target, key);
  return key;
}

std::string folded(const std::string& system, const std::string& item) {
  FoldedName how;
  return folded(system, item, how);
}

Facts two(const std::string& a, const std::string& b) {
  Facts facts = read_text(a);
  facts.append(read_text(b));
  return facts;
}

std::string manifest(const std::string& system, const std::string& rest) {
  return R"({"opseal_manifest": 1, "system": ")" + system + "\", " + rest + "}";
}

std::string text_of(const std::vector<CrossOperator>& operators) {
  std::string out;
  for (const CrossOperator& op : operators) {
    for (const CrossColumn& column : op.columns) out += column_text(column) + ", ";
    out += "\n";
  }
  return out;
}

// A directory with inputs and a configuration; the test runs in it.
class Project {
 public:
  Project() : before_(fs::current_path()) {
    std::string pattern = (fs::temp_directory_path() / "opseal_join_XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    fs::current_path(root_);
    add("torch.json", manifest("torch", R"("operators": [{"name": "acme::rope", "inputs": 3}])"));
    add("jax.json",
        manifest("jax",
                 R"("targets": [{"name": "acme_rope_fwd", "spec": ["arg", "arg", "ret"]}])"));
  }
  Project(const Project&) = delete;
  Project& operator=(const Project&) = delete;
  ~Project() {
    fs::current_path(before_);
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }

  void add(const std::string& name, const std::string& text) {
    std::ofstream(root_ / name) << text;
  }

  // A run in the default profile.
  Audit audit(const std::string& config, const std::vector<std::string>& platforms = {}) {
    add("opseal.toml", config);
    Options options;
    options.paths = {"jax.json", "torch.json"};
    options.config = "opseal.toml";
    options.no_ignore = true;
    options.platforms = platforms;
    return run_audit(options);
  }

 private:
  fs::path before_;
  fs::path root_;
};

std::string remarks_of(const Audit& audit) {
  std::string out;
  for (const Problem& problem : audit.facts.problems) out += problem.message + "\n";
  return out;
}

}  // namespace

TEST_CASE("names of all systems fold to one spelling") {
  FoldedName how;
  CHECK(folded("torch", R"({"name": "my_lib::rope_fwd", "namespace": "my_lib"})", how) ==
        "mylibropefwd");
  CHECK((how.project && how.exact));
  CHECK(folded("torch", R"({"name": "my_lib::rope_fwd.default"})") == "mylibropefwd");
  CHECK(folded("jax", R"({"name": "my_lib_rope_fwd_cuda_ffi"})", how, true) == "mylibropefwd");
  CHECK((!how.project && !how.exact));
  CHECK(folded("jax", R"({"name": "my-lib.rope_fwd"})", how, true) == "mylibropefwd");
  CHECK(folded("onnxruntime", R"({"name": "RopeFwd", "namespace": "my_lib"})", how) ==
        "mylibropefwd");
  CHECK(how.exact);
  CHECK(folded("onnxruntime", R"({"name": "RopeFwd", "namespace": "ai.my_lib.ops"})", how) ==
        "mylibropefwd");
  CHECK((how.project && !how.exact));
  CHECK(folded("tvm-ffi", R"({"name": "my_lib.rope_fwd"})", how) == "mylibropefwd");
  CHECK(how.exact);
  CHECK(folded("brainevent", R"({"name": "csrmv_p"})", how) == "braineventcsrmv");
  CHECK(!how.exact);
}

TEST_CASE("operators of one name that are not one operator stay apart") {
  const std::string plain = folded("torch", R"({"name": "l::f"})");
  for (const char* other : {"l::f_", "l::f.out", "l::_f", "l::f.default_x", "_l::f"}) {
    INFO(other);
    CHECK(folded("torch", R"({"name": ")" + std::string(other) + "\"}") != plain);
  }
  CHECK(folded("executorch", R"({"name": "l::f.out"})") ==
        folded("torch", R"({"name": "l::f.out"})"));
}

TEST_CASE("a namespace that is anybody's names no project") {
  CHECK(folded("torch", R"({"name": "custom::rope"})").empty());
  CHECK(folded("onnxruntime", R"({"name": "Rope", "namespace": "ai.custom.ops"})").empty());
  const Facts facts =
      two(manifest("torch", R"("operators": [{"name": "aten::add", "inputs": 2}])"),
          manifest("onnxruntime",
                   R"("operators": [{"name": "Add", "namespace": "ai.onnx", "inputs": 2}])"));
  CHECK(cross_operators(facts).empty());
}

TEST_CASE("joins: equal names in two systems, the newest version of each") {
  const Facts facts =
      two(manifest("onnxruntime", R"("operators": [
            {"name": "Rope", "namespace": "acme", "versions": {"since": 2, "until": null}},
            {"name": "Rope", "namespace": "acme", "versions": {"since": 1, "until": 1}},
            {"name": "Rope", "namespace": "acme", "versions": {"since": 3, "until": 3}, "deprecated": true}])"),
          manifest("torch", R"("operators": [{"name": "acme::rope"}, {"name": "acme::rope_"}])"));
  const std::vector<CrossOperator> operators = cross_operators(facts);
  CHECK(text_of(operators) ==
        "onnxruntime operator `acme::Rope@2`, torch operator `torch::acme::rope`, \n");
  CHECK(certainty_of(operators[0].columns[0], operators[0].columns[1]) == Certainty::sure);
}

TEST_CASE("joins: what is stated leaves the joining by names") {
  const Facts facts =
      two(manifest("torch", R"("joins": [["torch::acme::rope", "jax::other_name"]],
                    "operators": [{"name": "acme::rope"}])"),
          manifest("jax", R"("targets": [{"name": "acme_rope"}, {"name": "other_name"}])"));
  const std::vector<CrossOperator> operators = cross_operators(facts);
  CHECK(text_of(operators) == "torch operator `torch::acme::rope`, jax target `other_name`, \n");
  CHECK(certainty_of(operators[0].columns[0], operators[0].columns[1]) == Certainty::stated);
}

TEST_CASE("joins: one dump of a registry is not held against another of it") {
  const std::string torch = manifest("torch", R"("operators": [{"name": "acme::f", "inputs": 1}])");
  CHECK(cross_operators(two(torch, torch)).empty());
}

TEST_CASE("joins: names with versions, lost names, names of systems that were not given") {
  const Facts facts = read_text(manifest("onnxruntime", R"("joins": [
    ["acme::Rope@1", "onnxruntime::acme::Norm"], ["onnxruntime::acme::Norn"], ["tensorrt::acme::Rope"],
    ["acme::Rope@7"]],
    "operators": [{"name": "Rope", "namespace": "acme", "versions": {"since": 1}},
                  {"name": "Rope", "namespace": "acme", "versions": {"since": 2}},
                  {"name": "Norm", "namespace": "acme"}])"));
  const StatedJoins stated = read_stated_joins(facts);
  REQUIRE(stated.joins.size() == 4);
  CHECK(stated.joins[0].items.size() == 2);
  REQUIRE(stated.lost.size() == 2);
  CHECK(stated.lost[0].text.is("onnxruntime::acme::Norn"));
  CHECK(stated.lost[0].nearest == "Norm");
  CHECK(stated.lost[1].text.is("acme::Rope@7"));
}

TEST_CASE("a [join] asks for the comparison and is shown where it stands") {
  Project project;
  CHECK(count_findings(project.audit("")).empty());
  const std::string config = "[join]\n\"torch::acme::rope\" = \"jax::acme_rope_fwd\"\n";
  const Audit audit = project.audit(config);
  REQUIRE(audit.findings.size() == 1);
  CHECK(audit.findings[0].rule == find_rule("cross-arity"));
  CHECK(audit.findings[0].severity == Severity::error);
  CHECK(remarks_of(audit) == "");
  const std::string report = text_report(audit);
  CHECK(report.find("opseal.toml:2:") != report.npos);
  // What the command line states stands beside it.
  CHECK(project.audit(config, {"cpu"}).findings.size() >= 1);
  CHECK(project.audit("ignore = [\"cross-*\"]\n" + config).findings.empty());
}

TEST_CASE("a [join] of a name that nobody has is told with the nearest") {
  Project project;
  const Audit audit = project.audit(
      "[join]\n\"torch::acme::rope\" = [\"jax::acme_rope_fw\", \"onnxruntime::x::Y\"]\n");
  CHECK(remarks_of(audit) ==
        "no operator or target is called `jax::acme_rope_fw`; did you mean `acme_rope_fwd`?\n");
  CHECK(audit.complete);
}

TEST_CASE("a [join] that joins nothing is no configuration") {
  Project project;
  for (const char* config :
       {"join = 1\n", "[join]\n\"a\" = []\n", "[join]\n\"a\" = 1\n", "[join]\n\"a\" = [1]\n"}) {
    INFO(config);
    CHECK_THROWS_AS(project.audit(config), UsageError);
  }
}

}  // namespace opseal::test
