#pragma once

// Packages that a test of an exporter writes itself, and the run of an exporter on them.

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "analyzers/export.h"

namespace opseal::test {

inline constexpr std::string_view small_registry = R"(
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

inline constexpr std::string_view jax_operators = R"(
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

inline constexpr std::string_view operators_on_jax = R"(
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
inline constexpr std::string_view carried_operator = R"(
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
inline constexpr std::string_view live_targets = R"(
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
inline constexpr std::string_view branching_operators = R"(
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
  Workshop() : before_(std::filesystem::current_path()) {
    std::string name = (std::filesystem::temp_directory_path() / "opseal-export-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder_ = name;
    std::filesystem::create_directories(folder_ / "elsewhere");
    ::setenv("PYTHONPATH", folder_.c_str(), 1);
    std::filesystem::current_path(folder_ / "elsewhere");
  }
  ~Workshop() {
    std::filesystem::current_path(before_);
    ::unsetenv("PYTHONPATH");
    std::filesystem::remove_all(folder_);
  }
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;

  void write(const std::string& file, std::string_view text) const {
    std::filesystem::create_directories((folder_ / file).parent_path());
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

  std::filesystem::path folder() const { return folder_; }

 private:
  std::filesystem::path before_;
  std::filesystem::path folder_;
};

inline const Exporter& exporter(std::string_view name) {
  const auto found = std::ranges::find(all_exporters(), name, &Exporter::name);
  REQUIRE(found != all_exporters().end());
  return *found;
}

// Nothing where there is no Python at all: then there is nothing to test.
inline std::optional<ExportOutcome> run(std::string_view name, ExportRequest request = {}) {
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

inline nlohmann::json manifest_of(const ExportOutcome& outcome) {
  CAPTURE(outcome.message);
  CAPTURE(outcome.stderr_tail);
  REQUIRE(outcome.status == ExportStatus::ok);
  return nlohmann::json::parse(outcome.manifest);
}

inline std::optional<ExportOutcome> run_braintrace(ExportRequest request = {}) {
  return run("braintrace", std::move(request));
}

// The line of an operator; empty where there is none.
inline std::string operator_line(const std::string& manifest, std::string_view name) {
  const std::size_t begin = manifest.find("{\"name\": \"" + std::string(name) + "\"");
  if (begin == std::string::npos) return {};
  return manifest.substr(begin, manifest.find('\n', begin) - begin);
}

inline bool is_running(const std::string& process) {
  std::ifstream status("/proc/" + process + "/stat");
  std::string number, name, state;
  return static_cast<bool>(status >> number >> name >> state) && state != "Z";
}

inline bool ends_soon(const std::string& process) {
  for (int tries = 0; tries < 100; ++tries) {
    if (!is_running(process)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

}  // namespace opseal::test
