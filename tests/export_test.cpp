// The child of an exporter, with packages that each test writes itself: nothing is installed and
// nothing is fetched. The real packages are the business of `live_export_test.py`.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/export_twice.h"
#include "tests/export_workshop.h"

namespace fs = std::filesystem;

namespace opseal::test {

TEST_CASE("every exporter brings a script and is in order") {
  const auto exporters = all_exporters();
  CHECK(std::ranges::is_sorted(exporters, {}, &Exporter::name));
  for (const Exporter& each : exporters) {
    CAPTURE(each.name);
    CHECK(!each.script.empty());
    CHECK(!each.package.empty());
    CHECK(!each.description.empty());
  }
}

TEST_CASE("a registry becomes a manifest with one operator a line") {
  const Workshop workshop;
  workshop.write_braintrace("");
  const auto outcome = run_braintrace();
  if (!outcome) return;
  CAPTURE(outcome->message);
  CAPTURE(outcome->stderr_tail);
  REQUIRE(outcome->status == ExportStatus::ok);
  const std::string& manifest = outcome->manifest;
  CHECK(manifest.starts_with("{\n \"opseal_manifest\": 1,\n"));
  CHECK(manifest.ends_with("}\n"));
  CHECK(manifest.find("\"version\": \"1.2.3\"") != std::string::npos);
  CHECK(manifest.find("\n  {\"name\": \"etp_small\", \"aliases\": [\"small_p\"]") !=
        std::string::npos);
  CHECK(
      manifest.find("\"location\": {\"file\": \"braintrace/_op/_registries.py\", \"line\": 12}") !=
      std::string::npos);
  CHECK(manifest.find("\"trainables\": {\"weight\": 1}") != std::string::npos);
}

TEST_CASE("a private name that is not there leaves its key out, with a remark") {
  const Workshop workshop;
  workshop.write_braintrace("");
  const auto outcome = run_braintrace();
  if (!outcome) return;
  REQUIRE(outcome->status == ExportStatus::ok);
  // The small registry has no BATCHED_PRIMITIVES.
  CHECK(outcome->manifest.find("\"batched\"") == std::string::npos);
  CHECK(outcome->manifest.find("`batched` is not said") != std::string::npos);
  CHECK(outcome->stderr_tail.find("opseal export: remark: ") != std::string::npos);
}

TEST_CASE("a tangent is followed through the functions of the package that wrote the rule") {
  const Workshop workshop;
  workshop.write_jax();
  workshop.write("doubling/__init__.py", operators_on_jax);
  ExportRequest request;
  request.modules = {"doubling"};
  const auto outcome = run("jax", request);
  if (!outcome) return;
  CAPTURE(outcome->stderr_tail);
  REQUIRE(outcome->status == ExportStatus::ok);
  // Not to jax's `ne`, which `convert` binds for others.
  CHECK(operator_line(outcome->manifest, "double").find("\"tangent_operators\": [[\"double\"]]") !=
        std::string::npos);
  CHECK(operator_line(outcome->manifest, "neg").find("\"tangent_operators\": [[\"neg\"]]") !=
        std::string::npos);
}

TEST_CASE("an operator that no variable holds belongs to the package of its rules") {
  const Workshop workshop;
  workshop.write_jax();
  workshop.write("doubling/__init__.py", operators_on_jax);
  workshop.write("idle/__init__.py", "");
  ExportRequest request;
  request.modules = {"doubling", "idle"};
  const auto outcome = run("jax", request);
  if (!outcome) return;
  CAPTURE(outcome->stderr_tail);
  REQUIRE(outcome->status == ExportStatus::ok);
  CHECK(operator_line(outcome->manifest, "unheld").find("\"namespace\": \"doubling\"") !=
        std::string::npos);
  CHECK(operator_line(outcome->manifest, "neg").find("\"namespace\": \"jax\"") !=
        std::string::npos);
  CHECK(outcome->manifest.find("importing `idle` registers no operator") != std::string::npos);
  CHECK(outcome->manifest.find("importing `doubling`") == std::string::npos);
}

TEST_CASE("of jax, only the packages that were asked for are written") {
  const Workshop workshop;
  workshop.write_jax();
  workshop.write("doubling/__init__.py", operators_on_jax);
  workshop.write("handing.py",
                 "from jaxlib import xla_client\n"
                 "xla_client.register_custom_call_target(b'handed', None)\n");
  ExportRequest request;
  request.modules = {"doubling", "handing"};
  request.namespaces = {"doubling"};
  const auto outcome = run("jax", request);
  if (!outcome) return;
  CAPTURE(outcome->stderr_tail);
  REQUIRE(outcome->status == ExportStatus::ok);
  CHECK(!operator_line(outcome->manifest, "double").empty());
  CHECK(!operator_line(outcome->manifest, "unheld").empty());
  CHECK(operator_line(outcome->manifest, "neg").empty());
  CHECK(outcome->manifest.find("\"targets\": []") != std::string::npos);

  // A package may have targets only.
  request.namespaces = {"handing"};
  const auto targets = run("jax", request);
  REQUIRE(targets->status == ExportStatus::ok);
  CHECK(targets->manifest.find("\"operators\": []") != std::string::npos);
  CHECK(targets->manifest.find("{\"name\": \"handed\"") != std::string::npos);
  request.namespaces = {"absent"};
  CHECK(run("jax", request)->message.ends_with("no operator in the namespace `absent`"));
}

TEST_CASE("an object that carries a primitive is called in its place") {
  const Workshop workshop;
  workshop.write_jax();
  workshop.write("wrapping/__init__.py", carried_operator);
  ExportRequest request;
  request.modules = {"wrapping"};
  const auto outcome = run("jax", request);
  if (!outcome) return;
  CAPTURE(outcome->stderr_tail);
  REQUIRE(outcome->status == ExportStatus::ok);
  const std::string line = operator_line(outcome->manifest, "triple");
  CAPTURE(line);
  CHECK(line.find("\"namespace\": \"wrapping\", \"aliases\": [\"triple_p\"], "
                  "\"location\": {\"file\": \"wrapping/__init__.py\", \"line\": 10}") !=
        std::string::npos);
  CHECK(line.find("\"inputs\": 2, \"arity_source\": \"calls\"") != std::string::npos);
  // `backend` is the object's own, no attribute of the primitive.
  CHECK(line.find("\"attributes\"") == std::string::npos);
}

TEST_CASE("targets are those that were handed over and those that the live table has besides") {
  const Workshop workshop;
  workshop.write_jax();
  workshop.write("jaxlib/xla_client.py", live_targets);
  workshop.write("handing/__init__.py",
                 "from jaxlib import xla_client\n"
                 "xla_client.register_custom_call_target(\n"
                 "    b'said', None, 'Host', 1, xla_client.Traits.COMMAND_BUFFER_COMPATIBLE)\n");
  ExportRequest request;
  request.modules = {"handing"};
  const auto outcome = run("jax", request);
  if (!outcome) return;
  CAPTURE(outcome->manifest);
  REQUIRE(outcome->status == ExportStatus::ok);
  CHECK(
      outcome->manifest.find("\"targets\": [\n  {\"name\": \"said\", \"platform\": \"Host\", "
                             "\"api_version\": 1, \"traits\": [\"COMMAND_BUFFER_COMPATIBLE\"], "
                             "\"stages\": [\"execute\"], "
                             "\"location\": {\"file\": \"handing/__init__.py\", \"line\": 2}},\n"
                             "  {\"name\": \"silent\", \"platform\": \"cpu\", \"api_version\": 1, "
                             "\"stages\": [\"execute\", \"prepare\"]}\n ]") != std::string::npos);
}

TEST_CASE("a target that could not be told its interface has the old one") {
  const Workshop workshop;
  workshop.write_jax();
  workshop.write("handing/__init__.py",
                 "from jaxlib import xla_client\n"
                 "xla_client.register_custom_call_target(b'old', None)\n");
  ExportRequest request;
  request.modules = {"handing"};
  const auto outcome = run("jax", request);
  if (!outcome) return;
  CAPTURE(outcome->manifest);
  CHECK(outcome->manifest.find("{\"name\": \"old\", \"platform\": \"cpu\", "
                               "\"api_version\": 0, ") != std::string::npos);
}

TEST_CASE("the log of registrations has what ran, as often as it ran") {
  const Workshop workshop;
  workshop.write_brainevent();
  const auto outcome = run("brainevent", {.trace = true});
  if (!outcome) return;
  CAPTURE(outcome->message);
  CAPTURE(outcome->stderr_tail);
  REQUIRE(outcome->status == ExportStatus::ok);
  const std::string place = "\"location\": {\"file\": \"brainevent/operators.py\", \"line\": ";
  const std::string mm = "  {\"name\": \"mm\", " + place + "11}}";
  CHECK(outcome->manifest.find("\"registrations\": [\n  {\"name\": \"mv\", " + place + "8}},\n" +
                               mm + ",\n" + mm + "\n ]") != std::string::npos);
  // The package has its own function back once it is imported.
  CHECK(outcome->stderr_tail.find("register is True\nregister is True\n") != std::string::npos);
}

TEST_CASE("registrations that nobody saw are not made up from two branches") {
  const Workshop workshop;
  workshop.write_brainevent();
  workshop.write("sitecustomize.py", "import brainevent\n");
  const auto outcome = run("brainevent", {});
  if (!outcome) return;
  CAPTURE(outcome->message);
  CAPTURE(outcome->stderr_tail);
  REQUIRE(outcome->status == ExportStatus::ok);
  CHECK(outcome->manifest.find("\"registrations\":") == std::string::npos);
  CHECK(outcome->manifest.find("`registrations` is not said") != std::string::npos);
}

TEST_CASE("how a cache finds its entries is read off the function that clears it") {
  const auto match = [](std::string_view condition) -> std::string {
    const Workshop workshop;
    workshop.write_brainevent();
    workshop.write("brainevent/_op/kernix_cache.py",
                   "import hashlib, re\nclass CompilationCache:\n"
                   "    def cache_key(self, source):\n"
                   "        return hashlib.sha256(source).hexdigest()[:16]\n"
                   "    def store(self, name):\n        pass\n"
                   "    def clear(self, name=None):\n"
                   "        return [each for each in self.entries if " +
                       std::string(condition) + "]\n");
    const auto outcome = run("brainevent", {});
    if (!outcome) return "no Python";
    CAPTURE(outcome->stderr_tail);
    REQUIRE(outcome->status == ExportStatus::ok);
    const std::size_t begin = outcome->manifest.find("\"match\": \"");
    if (begin == std::string::npos) return "not said";
    return outcome->manifest.substr(begin + 10,
                                    outcome->manifest.find('"', begin + 10) - begin - 10);
  };
  const std::string prefix = match("each.startswith(f'{name}_')");
  if (prefix == "no Python") return;
  CHECK(prefix == "prefix");
  CHECK(match("re.match(name + r'_[0-9a-f]{16}\\Z', each)") == "exact");
  CHECK(match("re.fullmatch(name + '_[0-9a-f]{16}', each)") == "exact");
  CHECK(match("not each.startswith('.')") == "not said");
}

TEST_CASE("two runs give the same bytes") {
  const Workshop workshop;
  workshop.write_braintrace("");
  const auto first = run_braintrace();
  const auto second = run_braintrace();
  if (!first || !second) return;
  CHECK(!first->manifest.empty());
  CHECK(first->manifest == second->manifest);
}

// Two modules that ask a library for a target each; the library makes the name.
void write_targets(const Workshop& workshop, std::string_view name) {
  workshop.write_jax();
  workshop.write("calls/__init__.py",
                 "from jaxlib import xla_client\nfrom hashlib import sha256\nmade = []\n"
                 "def target(code):\n    name = " +
                     std::string(name) +
                     "\n    made.append(name)\n"
                     "    xla_client.register_custom_call_target(name, None, platform='cpu')\n");
  workshop.write("first.py", "import calls\ncalls.target('add')\n");
  workshop.write("second.py", "import calls\ncalls.target('mul')\n");
}

std::optional<std::string> differences_of_two_exports() {
  ExportRequest request;
  request.modules = {"first", "second"};
  const auto once = run("jax", request);
  std::swap(request.modules.front(), request.modules.back());
  const auto again = run("jax", request);
  if (!once || !again) return std::nullopt;
  REQUIRE(once->status == ExportStatus::ok);
  REQUIRE(again->status == ExportStatus::ok);
  return export_differences(once->manifest, again->manifest);
}

TEST_CASE("names that are counted differ with the order of imports") {
  const Workshop workshop;
  write_targets(workshop, "f'call_{len(made)}'");
  const auto differences = differences_of_two_exports();
  if (!differences) return;
  INFO(*differences);
  // Packages that nobody installed have no version, so `name-drift` stays silent here.
  CHECK(differences->find("`call_0` differs at `/location/file`") != std::string::npos);
}

TEST_CASE("names that are made from content are the same in any order") {
  const Workshop workshop;
  write_targets(workshop, "'call_' + sha256(code.encode()).hexdigest()[:16]");
  const auto differences = differences_of_two_exports();
  if (!differences) return;
  CHECK(*differences == "");
}

TEST_CASE("what is added to the environment of the child replaces what was there") {
  const Workshop workshop;
  ::setenv("OPSEAL_TEST_WORD", "old", 1);
  workshop.write_braintrace("import os\nassert os.environ['OPSEAL_TEST_WORD'] == 'new'");
  ExportRequest request;
  request.environment = {"OPSEAL_TEST_WORD=new"};
  const auto outcome = run_braintrace(request);
  ::unsetenv("OPSEAL_TEST_WORD");
  if (outcome) CHECK(outcome->status == ExportStatus::ok);
}

TEST_CASE("what a package prints is kept apart from the manifest") {
  const Workshop workshop;
  workshop.write_braintrace("print('welcome to braintrace')");
  const auto outcome = run_braintrace();
  if (!outcome) return;
  CHECK(outcome->status == ExportStatus::ok);
  CHECK(outcome->manifest.find("welcome") == std::string::npos);
  CHECK(outcome->stderr_tail.find("welcome to braintrace") != std::string::npos);
}

TEST_CASE("a script in the working directory shadows nothing") {
  const Workshop workshop;
  workshop.write_braintrace("");
  workshop.write("elsewhere/json.py", "raise RuntimeError('the user\\'s json.py')");
  const auto outcome = run_braintrace();
  if (!outcome) return;
  CAPTURE(outcome->message);
  CHECK(outcome->status == ExportStatus::ok);
}

TEST_CASE("importing leaves no bytecode behind") {
  const Workshop workshop;
  workshop.write_braintrace("");
  const auto outcome = run_braintrace();
  if (!outcome) return;
  CHECK(outcome->status == ExportStatus::ok);
  CHECK(!fs::exists(workshop.folder() / "braintrace" / "__pycache__"));
}

TEST_CASE("a module that is not installed is named with the interpreter") {
  const Workshop workshop;
  workshop.write_braintrace("");
  const auto outcome = run_braintrace({.modules = {"braintrace.no_such_module"}});
  if (!outcome) return;
  CHECK(outcome->status == ExportStatus::package_missing);
  CHECK(outcome->message.starts_with("`braintrace.no_such_module` is not installed for `/"));
  CHECK(outcome->message.find("PYTHONPATH") == std::string::npos);
}

TEST_CASE("a module in the working directory is not taken, and the message says how to") {
  const Workshop workshop;
  workshop.write_jax();
  workshop.write("elsewhere/my_ops.py", "");
  ExportRequest request;
  request.modules = {"my_ops"};
  const auto outcome = run("jax", request);
  if (!outcome) return;
  CHECK(outcome->status == ExportStatus::package_missing);
  CHECK(outcome->message.ends_with(
      "; `my_ops.py` in the working directory is looked at with `PYTHONPATH=.`"));
}

TEST_CASE("what an installed package lacks in turn is a failure, not an absence") {
  const Workshop workshop;
  workshop.write_braintrace("import no_such_module_at_all");
  const auto outcome = run_braintrace();
  if (!outcome) return;
  CHECK(outcome->status == ExportStatus::failed);
  CHECK(outcome->message.find("no_such_module_at_all") != std::string::npos);
}

TEST_CASE("no operator at all is a failure") {
  const Workshop workshop;
  workshop.write_braintrace("", "ETP_PRIMITIVES = set()\n");
  const auto outcome = run_braintrace();
  if (!outcome) return;
  CHECK(outcome->status == ExportStatus::failed);
  CHECK(outcome->message.find("0 operators in `braintrace`") != std::string::npos);
  CHECK(outcome->manifest.empty());
}

}  // namespace opseal::test
