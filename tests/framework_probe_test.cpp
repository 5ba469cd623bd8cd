// Checks of a framework, on a package that the test writes: what each process comes to is the
// result of its own rows alone.

#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/probe/frameworks.h"
#include "analyzers/probe/landlock.h"
#include "analyzers/python_program.h"
#include "tests/export_workshop.h"

namespace opseal::test {
namespace {

// As much of JAX, numpy and numba as the scripts touch. One kernel of the bridge registers a target
// under the name that `name_of` makes.
constexpr std::string_view bridge = R"(
_NUMBA_CPU_FFI_TARGETS = {}
def name_of(kernel):
    return "target_%d" % len(_NUMBA_CPU_FFI_TARGETS)
def resolve_buffer_dtype(code, fallback):
    return "float32"
)";

constexpr std::string_view sound_cache = R"(
import os, shutil
class CompilationCache:
    def __init__(self, folder):
        self.base_dir = folder
    def clear(self, name):
        for entry in os.listdir(self.base_dir):
            if entry.rsplit("_", 1)[0] == name:
                shutil.rmtree(os.path.join(self.base_dir, entry))
    def cache_key(self, **parts):
        return repr(sorted(parts.items()))
    def store(self, name, key, path, source_is_user_dir):
        import tempfile
        handle, copy = tempfile.mkstemp(dir=self.base_dir)
        os.close(handle)
        shutil.copy(path, copy)
        os.replace(copy, os.path.join(self.base_dir, name))
)";

constexpr std::string_view poor_cache = R"(
import os, shutil
class CompilationCache:
    def __init__(self, folder):
        self.base_dir = folder
    def clear(self, name):
        for entry in os.listdir(self.base_dir):
            if entry.startswith(name):
                shutil.rmtree(os.path.join(self.base_dir, entry))
    def cache_key(self, source, arch, cxx_version, header_paths):
        return source + arch
    def store(self, name, key, path, source_is_user_dir):
        copy = os.path.join(self.base_dir, "%d.tmp" % os.getpid())
        shutil.copy(path, copy)
        os.replace(copy, os.path.join(self.base_dir, name))
)";

void write_framework(const Workshop& workshop, std::string_view cache,
                     const std::string& first = {}) {
  workshop.write("numpy/__init__.py", "float32 = 'float32'\ndef dtype(name):\n    return name\n");
  workshop.write("numba/__init__.py", "def njit(function):\n    return function\n");
  workshop.write("jax/__init__.py",
                 "from jax import numpy\nclass ShapeDtypeStruct:\n"
                 "    def __init__(self, shape, dtype):\n        self.shape = shape\n");
  workshop.write("jax/numpy.py",
                 "float32 = 'float32'\ndef ones(extent, dtype):\n    return [1.0] * extent\n");
  workshop.write("brainevent/__init__.py",
                 first +
                     "\n__version__ = '9.1'\n"
                     "from brainevent._op import numba_ffi\n"
                     "def numba_kernel(kernel, outs):\n"
                     "    def call(*inputs):\n"
                     "        key = (kernel, outs.shape)\n"
                     "        if key not in numba_ffi._NUMBA_CPU_FFI_TARGETS:\n"
                     "            name = numba_ffi.name_of(kernel)\n"
                     "            numba_ffi._NUMBA_CPU_FFI_TARGETS[key] = name\n"
                     "    return call\n");
  workshop.write("brainevent/_op/__init__.py", "");
  workshop.write("brainevent/_op/numba_ffi.py", bridge);
  workshop.write("brainevent/_op/kernix_cache.py", cache);
}

struct Row {
  std::string status;
  std::string text;
};

struct Run {
  bool possible = true;
  std::size_t count = 0;
  std::map<std::string, Row> rows;
  std::vector<Problem> problems;
};

Run run_checks(const std::vector<std::string>& only, double time_limit_seconds = 60) {
  Run run;
  if (!find_python({})) {
    run.possible = false;
    return run;
  }
  FrameworkOptions options;
  options.frameworks = {"brainevent"};
  options.time_limit_seconds = time_limit_seconds;
  for (const std::string& name : only) options.only.push_back("brainevent/" + name);
  Facts facts;
  options.program = OPSEAL_BINARY;
  run.count = run_framework_probes(options, facts).probes;
  for (const Document& document : facts.documents) {
    for (const Fact row : facts.root(document)[Key::probes].items()) {
      const std::string_view text = row[Key::seen].text(row[Key::reason].text());
      run.rows[std::string(row[Key::name].text())] = {std::string(row[Key::status].text()),
                                                      std::string(text)};
    }
  }
  run.problems = facts.problems;
  return run;
}

}  // namespace

TEST_CASE("what a framework keeps passes, and what it doesn't differs") {
  const Workshop workshop;
  const std::vector<std::string> checks{"cache-prefix", "cache-key-separation", "cache-temp-name"};
  write_framework(workshop, sound_cache);
  Run sound = run_checks(checks);
  if (!sound.possible) return;
  CHECK(sound.count == 3);
  for (const std::string& check : checks) {
    INFO(check, ": ", sound.rows[check].text);
    CHECK(sound.rows[check].status == "passed");
  }
  write_framework(workshop, poor_cache);
  Run poor = run_checks(checks);
  for (const std::string& check : checks) {
    INFO(check, ": ", poor.rows[check].text);
    CHECK(poor.rows[check].status == "differs");
  }
  CHECK(poor.rows["cache-prefix"].text == "it leaves nothing");
}

TEST_CASE("two processes make kernels in two orders, and their names are compared") {
  const Workshop workshop;
  write_framework(workshop, sound_cache);
  Run counted = run_checks({"name-stability"});
  if (!counted.possible) return;
  CHECK(counted.rows["name-stability"].status == "differs");
  CHECK(counted.rows["name-stability"].text ==
        "add_one: target_0; double: target_1, and in the other process add_one: target_1; double: "
        "target_0");
  workshop.write("brainevent/_op/numba_ffi.py",
                 std::string(bridge) + "def name_of(kernel):\n    return kernel.__name__\n");
  Run named = run_checks({"name-stability", "targets-per-shape"});
  CHECK(named.rows["name-stability"].status == "passed");
  CHECK(named.rows["targets-per-shape"].text == "10 targets");
}

TEST_CASE("a process that crashes, hangs or fails is the result of its own check alone") {
  const Workshop workshop;
  write_framework(workshop,
                  std::string(sound_cache) +
                      "    def clear(self, name):\n        os.abort()\n"
                      "    def cache_key(self, **parts):\n"
                      "        raise TypeError('no such part, ' + os.environ['TMPDIR'] + '/x')\n");
  Run some = run_checks({"cache-*", "dtype-codes", "callback-ownership", "batch-cuda"});
  if (!some.possible) return;
  CHECK(some.rows["cache-prefix"].status == "crashed");
  CHECK(some.rows["cache-prefix"].text == "ended by SIGABRT");
  CHECK(some.rows["cache-key-separation"].status == "no_answer");
  CHECK(some.rows["cache-key-separation"].text == "TypeError: no such part, SCRATCH/x");
  CHECK(some.rows["cache-temp-name"].status == "passed");
  CHECK(some.rows["dtype-codes"].status == "differs");
  CHECK(some.rows["callback-ownership"].status == "skipped");
  CHECK(some.rows["callback-ownership"].text ==
        "`brainevent._op.numba_ffi` has no `NumbaCpuFfiHandler`");
  CHECK(some.rows["batch-cuda"].text == "needs a GPU");

  workshop.write("brainevent/_op/kernix_cache.py", "import time\ntime.sleep(600)\n");
  Run hung = run_checks({"cache-prefix", "dtype-codes"}, 5);
  CHECK(hung.rows["cache-prefix"].status == "timed_out");
  CHECK(hung.rows["cache-prefix"].text == "no end within 5 s");
}

TEST_CASE("a crash is told once, however many rows its process was to state") {
  const Workshop workshop;
  write_framework(workshop, sound_cache, "import os\nos._exit(3)");
  Run run_of_all = run_checks({"backend-*"});
  if (!run_of_all.possible) return;
  CHECK(run_of_all.rows["backend-switch"].status == "crashed");
  CHECK(run_of_all.rows["backend-switch"].text == "ended with exit status 3");
  CHECK(run_of_all.rows["backend-warmcache"].status == "no_answer");
  CHECK(run_of_all.rows["backend-warmcache"].text ==
        "its process was ended with exit status 3 before");
}

TEST_CASE("a framework can write in its own folder alone") {
  const Workshop workshop;
  const std::string outside = (workshop.folder() / "outside").string();
  write_framework(workshop, std::string(sound_cache) +
                                "    def cache_key(self, **parts):\n        open('" + outside +
                                "', 'w')\n");
  Run shut = run_checks({"cache-key-separation", "cache-prefix"});
  if (!shut.possible || landlock_version() == 0) return;
  CHECK(shut.rows["cache-key-separation"].status == "no_answer");
  CHECK(shut.rows["cache-key-separation"].text.starts_with("PermissionError"));
  CHECK(!std::filesystem::exists(outside));
  CHECK(shut.rows["cache-prefix"].status == "passed");
}

TEST_CASE("what isn't installed is a problem and no result") {
  const Workshop workshop;
  Run none = run_checks({"cache-prefix"});
  if (!none.possible) return;
  CHECK(none.count == 0);
  REQUIRE(none.problems.size() == 1);
  CHECK(none.problems[0].message.starts_with("`brainevent` is not installed for `"));
  CHECK(none.problems[0].severity == Severity::error);
}

}  // namespace opseal::test
