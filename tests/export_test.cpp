// The child of an exporter, with packages that each test writes itself: nothing is installed and
// nothing is fetched. The real packages are the business of `live_export_test.py`.

#include "analyzers/export.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "cli/export_twice.h"

namespace fs = std::filesystem;

namespace opseal::test {
namespace {

constexpr std::string_view small_registry = R"(
class Primitive:
    name = "etp_small"
    multiple_results = False

    def impl(self, x, weight):
        return x

def rule(hidden, trace):
    return trace

small_p = Primitive()
ETP_PRIMITIVES = {small_p}
ETP_RULES_DT_TO_T = {small_p: rule}
ETP_TRAINABLE_INVARS_FNS = {}

def get_trainable_invars(primitive, parameters):
    return {"weight": 1}
)";

constexpr std::string_view jax_operators = R"(
import functools
from jax._src.core import Primitive
from jax._src.interpreters import ad

ne_p = Primitive("ne")
neg_p = Primitive("neg")

def negate(x):
    return neg_p.bind(x)

def convert(x, to_bool=False):
    return ne_p.bind(x, 0) if to_bool else x

def negate_rule(tangent, x):
    return negate(tangent)

ad.primitive_jvps[neg_p] = functools.partial(ad.standard_jvp, [negate_rule], neg_p)
)";

constexpr std::string_view operators_on_jax = R"(
import functools
from jax import lax
from jax._src.core import Primitive
from jax._src.interpreters import ad

double_p = Primitive("double")

def double(x):
    return double_p.bind(lax.convert(x))

def rule(tangent, x):
    return double(tangent)

ad.primitive_jvps[double_p] = functools.partial(ad.standard_jvp, [rule], double_p)

def unheld():
    held_by_nobody = Primitive("unheld")
    ad.primitive_transposes[held_by_nobody] = rule

unheld()
)";

// Line 10 makes the object.
constexpr std::string_view carried_operator = R"(
from jax._src.core import Primitive
from jax._src.interpreters import ad

class Kernel:
    def __init__(self, name):
        self.primitive = Primitive(name)
    def __call__(self, *inputs, backend=None):
        return self.primitive.bind(*inputs)
triple_p = Kernel("triple")

def triple(x, y):
    return triple_p(x, y, backend="numba")

ad.primitive_transposes[triple_p.primitive] = triple
)";

// The untyped one poses as a function of the mathematics library.
constexpr std::string_view live_targets = R"(
import enum

class Traits(enum.IntFlag):
    DEFAULT = 0
    COMMAND_BUFFER_COMPATIBLE = 1

def register_custom_call_target(name, fn, platform="cpu", api_version=0, traits=Traits.DEFAULT):
    pass

def custom_call_targets(platform):
    typed = {"said": {"execute": None}, "silent": {"prepare": None, "execute": None}}
    return {**typed, "log": None} if platform == "cpu" else {}
)";

// Its constructor registers, in a branch that runs, in one that does not, and twice from one line.
constexpr std::string_view branching_operators = R"(
from brainevent._op.main import XLACustomKernel

cuda = False
if cuda:
    mv_p = XLACustomKernel("mv")
else:
    mv_p = XLACustomKernel("mv")

def twice(name):
    return [XLACustomKernel(name) for _ in range(2)][-1]

mm_p = twice("mm")

def benchmark_data(platform):
    from brainevent import _op, _registry
    for module in (_registry, _op.main):
        print("register is", module.register_primitive is _registry.original)
    return []

mv_p._benchmark_data_fn = mv_p._call_fn = benchmark_data
)";

// A folder that is the working directory and the only entry of PYTHONPATH while the test runs.
class Workshop {
 public:
  Workshop() : before_(fs::current_path()) {
    std::string name = (fs::temp_directory_path() / "opseal-export-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder_ = name;
    fs::create_directories(folder_ / "elsewhere");
    ::setenv("PYTHONPATH", folder_.c_str(), 1);
    fs::current_path(folder_ / "elsewhere");
  }
  ~Workshop() {
    fs::current_path(before_);
    ::unsetenv("PYTHONPATH");
    fs::remove_all(folder_);
  }
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;

  void write(const std::string& file, std::string_view text) const {
    fs::create_directories((folder_ / file).parent_path());
    std::ofstream(folder_ / file) << text;
  }

  // `first` is what the package does before anything else when it is imported.
  void write_braintrace(std::string_view first, std::string_view registry = small_registry) const {
    write("braintrace/__init__.py",
          std::string(first) + "\nfrom braintrace._op import _registries\n");
    write("braintrace/_op/__init__.py", "");
    write("braintrace/_op/_registries.py", registry);
  }

  // As much of jax as its exporter reads: two operators, and a function that compares its argument
  // with 0 on one of its branches.
  void write_jax() const {
    for (const char* package : {"jax", "jax/_src", "jax/_src/interpreters", "jaxlib"}) {
      write(std::string(package) + "/__init__.py", "");
    }
    write("jaxlib/xla_client.py",
          "def register_custom_call_target(name, fn, platform='cpu'):\n    pass\n");
    write("jax/_src/core.py",
          "class Primitive:\n    def __init__(self, name):\n        self.name = name\n");
    write("jax/_src/interpreters/ad.py",
          "primitive_jvps, primitive_transposes = {}, {}\n"
          "fancy_transposes, primitive_linearizations = {}, {}\n"
          "def standard_jvp(jvprules, primitive, primals, tangents):\n    pass\n");
    write("jax/_src/interpreters/mlir.py", "_lowerings, _platform_specific_lowerings = {}, {}\n");
    write("jax/_src/interpreters/batching.py", "fancy_primitive_batchers = {}\n");
    write("jax/lax.py", jax_operators);
  }

  void write_brainevent() const {
    write("brainevent/__init__.py", "from brainevent import operators\n");
    write("brainevent/_registry.py",
          "_PRIMITIVE_REGISTRY = {}\n"
          "def register_primitive(name, primitive):\n    _PRIMITIVE_REGISTRY[name] = primitive\n"
          "original = register_primitive\n");
    write("brainevent/_op/__init__.py", "");
    write("brainevent/_op/main.py",
          "from brainevent._registry import register_primitive\n"
          "class XLACustomKernel:\n"
          "    def __init__(self, name):\n"
          "        self.primitive, self._tags = object(), set()\n"
          "        self._kernels, self._defaults = {}, {}\n"
          "        register_primitive(name, self)\n");
    write("brainevent/operators.py", branching_operators);
  }

  fs::path folder() const { return folder_; }

 private:
  fs::path before_;
  fs::path folder_;
};

const Exporter& exporter(std::string_view name) {
  const auto found = std::ranges::find(all_exporters(), name, &Exporter::name);
  REQUIRE(found != all_exporters().end());
  return *found;
}

// Nothing where there is no Python at all: then there is nothing to test.
std::optional<ExportOutcome> run(std::string_view name, ExportRequest request) {
  request.python = "python3";
  request.tool_version = "1.2.3";
  ExportOutcome outcome = run_exporter(exporter(name), request);
  if (outcome.status == ExportStatus::no_interpreter) {
    // CTest looks for this at the beginning of a line.
    std::cout << "skipped: " << outcome.message << "\n";
    return std::nullopt;
  }
  return outcome;
}

std::optional<ExportOutcome> run_braintrace(ExportRequest request = {}) {
  return run("braintrace", std::move(request));
}

// The line of an operator; empty where there is none.
std::string operator_line(const std::string& manifest, std::string_view name) {
  const std::size_t begin = manifest.find("{\"name\": \"" + std::string(name) + "\"");
  if (begin == std::string::npos) return {};
  return manifest.substr(begin, manifest.find('\n', begin) - begin);
}

bool is_running(const std::string& process) {
  std::ifstream status("/proc/" + process + "/stat");
  std::string number, name, state;
  return static_cast<bool>(status >> number >> name >> state) && state != "Z";
}

bool ends_soon(const std::string& process) {
  for (int tries = 0; tries < 100; ++tries) {
    if (!is_running(process)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

}  // namespace

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

TEST_CASE("a package that hangs is killed with its children when its time is up") {
  const Workshop workshop;
  workshop.write_braintrace(
      "import subprocess, time\n"
      "child = subprocess.Popen(['sleep', '600'])\n"
      "print('child', child.pid, flush=True)\n"
      "time.sleep(600)");
  const auto outcome = run_braintrace({.time_limit_seconds = 2});
  if (!outcome) return;
  CHECK(outcome->status == ExportStatus::timed_out);
  CHECK(outcome->message.ends_with(" after 2 s"));
  REQUIRE(outcome->stderr_tail.starts_with("child "));
  const std::string process = outcome->stderr_tail.substr(6, outcome->stderr_tail.find('\n') - 6);
  CHECK(ends_soon(process));
}

TEST_CASE("a time limit that no clock can count is still a limit") {
  const Workshop workshop;
  workshop.write_braintrace("");
  for (const double endless : {std::numeric_limits<double>::infinity(), 1e300}) {
    const auto outcome = run_braintrace({.time_limit_seconds = endless});
    if (!outcome) return;
    CHECK(outcome->status == ExportStatus::ok);
  }
  for (const double none : {std::numeric_limits<double>::quiet_NaN(), -1e300}) {
    const auto outcome = run_braintrace({.time_limit_seconds = none});
    if (!outcome) return;
    CHECK(outcome->status == ExportStatus::timed_out);
  }
}

TEST_CASE("the ways in which a child can end without a manifest are told apart") {
  struct Case {
    const char* first;
    ExportStatus status;
    const char* part;
  };
  const std::array cases{
      Case{"import os, signal; os.kill(os.getpid(), signal.SIGKILL)", ExportStatus::failed,
           "was ended by signal 9"},
      Case{"import os; os._exit(7)", ExportStatus::failed, "ended with exit status 7"},
      Case{"import os; os._exit(0)", ExportStatus::bad_answer, "ended without a manifest"},
      Case{"import os; os.write(3, b'manifest\\n{'); os._exit(0)", ExportStatus::bad_answer,
           "ended without a manifest"},
      Case{"raise SystemExit('enough')", ExportStatus::failed, "SystemExit: enough"},
  };
  for (const Case& each : cases) {
    const Workshop workshop;
    workshop.write_braintrace(each.first);
    const auto outcome = run_braintrace();
    if (!outcome) return;
    CAPTURE(each.first);
    CAPTURE(outcome->message);
    CHECK(outcome->status == each.status);
    CHECK(outcome->message.find(each.part) != std::string::npos);
    CHECK(outcome->manifest.empty());
  }
}

TEST_CASE("what is no interpreter is said before anything runs") {
  const Workshop workshop;
  workshop.write("text", "not a program");
  fs::permissions(workshop.folder() / "text", fs::perms::owner_all);
  ExportRequest request;
  request.python = (workshop.folder() / "absent").string();
  CHECK(run_exporter(exporter("jax"), request).status == ExportStatus::no_interpreter);
  request.python = workshop.folder().string();
  CHECK(run_exporter(exporter("jax"), request).status == ExportStatus::no_interpreter);
  request.python = (workshop.folder() / "text").string();
  CHECK(run_exporter(exporter("jax"), request).status == ExportStatus::no_interpreter);
}

}  // namespace opseal::test
