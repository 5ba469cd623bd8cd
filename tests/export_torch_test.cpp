// The exporter of torch on a package that poses as torch: it has the handful of calls that the
// exporter needs, and a package on it. The real ones are the business of `live_torch_test.py`.

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tests/export_workshop.h"

namespace fs = std::filesystem;

namespace opseal::test {
namespace {

using nlohmann::json;

// `calls` are those of `torch._C`, as a version has them.
constexpr std::string_view torch_package = R"python(
from torch import _C, library
__version__ = "9.9.0+cu1"
)python";

constexpr std::string_view torch_calls = R"python(
_dumps = {
    "aten::add": """name: aten::add
schema: aten::add(Tensor self, Tensor[] rest, *, str mode="a, \\"(b", Tensor(a!)? out=None) -> (Tensor(a!), int)
debug: registered at /build/box/aten/src/ATen/RegisterSchema.cpp:6
alias analysis kind: FROM_SCHEMA
CPU: registered at /build/box/aten/src/ATen/native/Add.cpp:12 :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]
Tracer: registered at /build/box/torch/csrc/Trace.cpp:3 :: (none) [ fallthrough boxed ]
Meta: registered at TORCH/_meta.py:5 :: (none) [ boxed ]
Meta (inactive): registered at /build/box/aten/src/ATen/Meta.cpp:8 :: (Tensor _0) -> Tensor _0 [ boxed ]
FuncTorchBatched: registered at /build/box/aten/src/ATen/Batch.cpp:9 :: (none) [ boxed ]
Autograd[alias]: registered at /build/box/torch/csrc/Auto.cpp:2 :: (none) [ boxed ]
""".replace("TORCH", __file__.rpartition("/")[0]),
}

class Key:
    def __init__(self, name):
        self.name = name
    def __str__(self):
        return "DispatchKey." + self.name

class DispatchKey:
    __members__ = {name: Key(name) for name in ("CPU", "Conjugate")}

def _dispatch_dump(name):
    return _dumps[name]

def _dispatch_find_dangling_impls():
    return [text for text in _dumps.values() if "schema: (none)" in text]

def _dispatch_has_backend_fallback(key):
    return key.name == "Conjugate"

def _dispatch_key_for_device(device):
    return "DispatchKey." + device.upper()

def _get_operation_overload(name, overload):
    return (None, None, ["Tag.core"]) if name == "aten::add" else None
)python";

constexpr std::string_view names_since_2_0 = R"python(
def _dispatch_get_all_op_names():
    return [name for name, text in _dumps.items() if "schema: (none)" not in text]
)python";

constexpr std::string_view names_before_2_0 = R"python(
def _dispatch_get_registrations_for_dispatch_key(key=""):
    return [name for name in _dumps if name != "aten::add"]
class Schema:
    name, overload_name = "aten::add", ""
def _jit_get_all_schemas():
    return [Schema()]
def _dispatch_has_kernel(name):
    return True
)python";

constexpr std::string_view custom_operators = R"python(
class Custom:
    def __init__(self, function):
        self._init_fn, self._backend_fns = function, {}
        self._abstract_fn = self._backward_fn = self._vmap_fn = None
    def kernel(self, device, fn):
        def wrapped_fn(*arguments):
            return fn(*arguments)
        self._backend_fns[device] = wrapped_fn
def stub(fake):
    def fake_impl(*arguments, **options):
        return fake(*arguments, **options)
    return fake_impl
OPDEFS = {}
)python";

constexpr std::string_view fakes = R"python(
class Holder:
    pass
class Entry:
    def __init__(self, function):
        self.fake_impl = Holder()
        self.fake_impl.kernel = Holder()
        self.fake_impl.kernel.func = function
class singleton:
    _data = {}
)python";

// `torch.ops.theirs.trivial.default` is the only one for which it makes a fake.
constexpr std::string_view utilities = R"python(
import types, torch
torch.ops = types.SimpleNamespace(theirs=types.SimpleNamespace(trivial=types.SimpleNamespace(default=1)))
def can_generate_trivial_fake_impl(op):
    return op == 1
)python";

constexpr std::string_view decompositions = R"python(
class Overload:
    class _schema:
        name, overload_name = "mine::decomposed", ""
decomposition_table = {Overload(): None}
)python";

// One operator in C++, one in Python without a formula, one that lacks its definition, and one that
// torch itself loads meanwhile.
constexpr std::string_view package_on_torch = R"python(
from torch import _C
from torch._library import custom_ops

_C._dumps["mine::native"] = """name: mine::native
schema: mine::native(Tensor x) -> Tensor
debug: registered at /ci/checkout/mine/csrc/ops.cpp:7
CPU: registered at /ci/checkout/mine/csrc/ops.cpp:9 :: (Tensor _0) -> Tensor _0 [ boxed ]
"""
_C._dumps["mine::python"] = """name: mine::python
schema: mine::python(Tensor x, 5) -> Tensor
debug: registered at {0}/_library/custom_ops.py:1
CPU: registered at {0}/_library/custom_ops.py:1 :: (none) [ boxed ]
Autograd[alias]: registered at {0}/_library/custom_ops.py:1 :: (none) [ boxed ]
""".format(_C.__file__.rpartition("/")[0])
_C._dumps["mine::decomposed"] = """name: mine::decomposed
schema: mine::decomposed(Tensor x) -> Tensor
debug: registered at /ci/checkout/mine/csrc/ops.cpp:3
"""
_C._dumps["mine::lost"] = """name: mine::lost
schema: (none)
CUDA: registered at csrc/lost.cu:4 :: (none) [ boxed ]
"""
_C._dumps["aten::late"] = """name: aten::late
schema: aten::late(Tensor x) -> Tensor
debug: registered at /build/box/torch/late.cpp:7
"""

def python(x, y):
    return x

def on_cpu(x, y):
    return x

custom_ops.OPDEFS["mine::python"] = custom_ops.Custom(python)
custom_ops.OPDEFS["mine::python"].kernel("cpu", on_cpu)
)python";

// All that is registered through a library has the place at which the library was made.
constexpr std::string_view library_calls = R"python(
from torch import _C

class Library:
    dispatch_key = ""
    def __init__(self, ns, place):
        self.ns, self.place = ns, place
    def define(self, schema):
        name = self.ns + "::" + schema.partition("(")[0]
        _C._dumps[name] = "name: {}\nschema: {}::{}\ndebug: registered at {}\n".format(
            name, self.ns, schema, self.place)
    def impl(self, name, function, dispatch_key=""):
        _C._dumps[self.ns + "::" + name] += "{}: registered at {} :: (none) [ boxed ]\n".format(
            dispatch_key, self.place)

def define(library, schema):
    library.define(schema)
)python";

constexpr std::string_view package_with_library = R"python(
from torch import library
made = library.Library("placed", __file__ + ":3")
made.define("first(Tensor x) -> Tensor")
library.define(made, "second(Tensor x) -> Tensor")
made.impl("first", print, "CPU")
)python";

// Custom operators: what torch registers for each by itself, and what a person adds to it.
constexpr std::string_view custom_package = R"python(
from torch import _C
from torch._library import custom_ops, simple_registry

_torch = _C.__file__.rpartition("/")[0] + "/_library/custom_ops.py:1"

def define(name, rows, fake=None, result="Tensor"):
    _C._dumps[name] = "name: {0}\nschema: {0}(Tensor(a!) x) -> {1}\ndebug: registered at {2}\n".format(
        name, result, _torch)
    _C._dumps[name] += "".join("{}: registered at {} :: (none) [ boxed ]\n".format(key, site or _torch)
                               for key, site in rows.items())
    def function(x):
        return x
    custom_ops.OPDEFS[name] = custom_ops.Custom(function)
    custom_ops.OPDEFS[name]._abstract_fn = fake
    simple_registry.singleton._data[name] = simple_registry.Entry(custom_ops.stub(fake))

def fake(x):
    return x

define("theirs::bare", {"CPU": None, "Meta": None})
define("theirs::composite", {"CompositeExplicitAutograd": None, "Meta": None})
define("theirs::faked", {"CPU": None, "Meta": None}, fake)
define("theirs::meta", {"CPU": None, "Meta": __file__ + ":5"})
define("theirs::trivial", {"CPU": None, "Meta": None}, result="()")
)python";

// Packages in a folder that PYTHONPATH names while the test runs.
class Packages {
 public:
  explicit Packages(std::string_view names_call) {
    std::string name = (fs::temp_directory_path() / "opseal-torch-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder_ = name;
    ::setenv("PYTHONPATH", folder_.c_str(), 1);
    write("torch/__init__.py", torch_package);
    write("torch/_C.py", std::string(torch_calls) + std::string(names_call));
    write("torch/library.py", library_calls);
    write("torch/_library/__init__.py", "");
    write("torch/_library/custom_ops.py", custom_operators);
    if (names_call == names_since_2_0) {
      write("torch/_library/simple_registry.py", fakes);
      write("torch/_library/utils.py", utilities);
      write("torch/_subclasses/fake_impls.py", "op_implementations_dict = {}\n");
      write("torch/_decomp.py", decompositions);
    }
    write("mine/__init__.py", package_on_torch);
    write("theirs.py", custom_package);
    write("placed.py", package_with_library);
    write("idle.py", "");
  }
  ~Packages() {
    ::unsetenv("PYTHONPATH");
    fs::remove_all(folder_);
  }
  Packages(const Packages&) = delete;
  Packages& operator=(const Packages&) = delete;

 private:
  void write(const std::string& file, std::string_view text) const {
    fs::create_directories((folder_ / file).parent_path());
    std::ofstream(folder_ / file) << text;
  }

  fs::path folder_;
};

json names_of(const json& manifest) {
  json names = json::array();
  for (const json& each : manifest["operators"]) names.push_back(each["name"]);
  return names;
}

}  // namespace

TEST_CASE("torch's own operators become a manifest, whatever the version lists them by") {
  for (const std::string_view names : {names_since_2_0, names_before_2_0}) {
    const Packages packages(names);
    const auto outcome = run("torch", {});
    if (!outcome) return;
    const json manifest = manifest_of(*outcome);
    CHECK(manifest["system"] == "torch");
    CHECK(manifest["producer"]["packages"]["torch"] == "9.9.0+cu1");
    CHECK(manifest["devices"] == json::array({"cpu"}));
    CHECK(manifest["backend_fallbacks"] == json::array({"Conjugate"}));
    CHECK(!manifest.contains("platforms"));
    REQUIRE(names_of(manifest) == json::array({"aten::add"}));

    const json& add = manifest["operators"][0];
    CHECK(add["namespace"] == "aten");
    CHECK(add["location"] == json{{"file", "aten/src/ATen/RegisterSchema.cpp"}, {"line", 6}});
    CHECK(add["defined_in"] == "native");
    CHECK(add["tags"] == json::array({"core"}));
    CHECK(add["inputs"] == json::parse(R"([{"name": "self", "mutated": false},
        {"name": "rest", "mutated": false, "type": "Tensor[]"},
        {"name": "out", "mutated": true, "alias": "a!", "optional": true}])"));
    CHECK(add["attributes"] == json::parse(R"([{"name": "mode", "type": "str"}])"));
    CHECK(add["outputs"] == json::parse(R"([{"mutated": true, "alias": "a!"}, {"type": "int"}])"));
    CHECK(add["abstract"]["kind"] == "meta");
    // All that is known is where the library object was made, by which it was registered.
    CHECK(!add["abstract"].contains("location"));
    CHECK(add["kernels"][2] == json{{"platform", "Meta"}, {"package", "torch"}});
    CHECK(add["batching"] == json{{"kind", "custom"}});
    CHECK(!add.contains("gradient"));
    REQUIRE(add["kernels"].size() == 6);
    CHECK(add["kernels"][0] == json::parse(R"({"platform": "CPU", "package": "torch",
                          "location": {"file": "aten/src/ATen/native/Add.cpp", "line": 12}})"));
    CHECK(add["kernels"][1]["fallthrough"] == true);
    CHECK(add["kernels"][3]["active"] == false);
    CHECK(add["kernels"][5]["platform"] == "Autograd");
  }
}

TEST_CASE("with a module, only what that module registered is said") {
  const Packages packages(names_since_2_0);
  const auto outcome = run("torch", {.modules = {"mine"}});
  if (!outcome) return;
  const json manifest = manifest_of(*outcome);
  REQUIRE(names_of(manifest) ==
          json::array({"mine::decomposed", "mine::lost", "mine::native", "mine::python"}));
  CHECK(manifest["operators"][0]["abstract"]["kind"] == "decomposition");

  const json& lost = manifest["operators"][1];
  CHECK(!lost.contains("schema"));
  CHECK(!lost.contains("abstract"));
  CHECK(lost["kernels"] ==
        json::parse(R"([{"platform": "CUDA", "location": {"file": "csrc/lost.cu", "line": 4}}])"));

  const json& native = manifest["operators"][2];
  CHECK(native["location"] == json{{"file", "mine/csrc/ops.cpp"}, {"line", 7}});
  CHECK(native["abstract"] == nullptr);
  CHECK(native["kernels"][0]["package"] == "mine");

  const json& python = manifest["operators"][3];
  CHECK(python["location"]["file"] == "mine/__init__.py");
  CHECK(python["defined_in"] == "python");
  CHECK(python["gradient"] == nullptr);
  CHECK(python["batching"] == nullptr);
  CHECK(!python.contains("inputs"));
  CHECK(python["kernels"][0]["function"]["name"] == "mine.on_cpu");
  CHECK(!python["kernels"][1].contains("location"));
  CHECK(manifest["remarks"].dump().find("the schema of `mine::python`") != std::string::npos);
}

TEST_CASE("where torch has no tables of fakes, nobody says that there is none") {
  const Packages packages(names_before_2_0);
  const auto outcome = run("torch", {.modules = {"mine"}});
  if (!outcome) return;
  const json manifest = manifest_of(*outcome);
  REQUIRE(manifest["operators"][2]["name"] == "mine::native");
  CHECK(!manifest["operators"][2].contains("abstract"));
}

TEST_CASE("what torch registers for every custom operator is no fake of its author's") {
  const Packages packages(names_since_2_0);
  const auto outcome = run("torch", {.modules = {"theirs"}});
  if (!outcome) return;
  const json manifest = manifest_of(*outcome);
  REQUIRE(names_of(manifest) == json::array({"theirs::bare", "theirs::composite", "theirs::faked",
                                             "theirs::meta", "theirs::trivial"}));
  const json& operators = manifest["operators"];
  for (const std::size_t lacking : {0U, 1U}) {
    CHECK(operators[lacking]["abstract"] == nullptr);
    // The kernel for tensors without data only raises.
    REQUIRE(operators[lacking]["kernels"].size() == 1);
    CHECK(operators[lacking]["kernels"][0]["platform"] != "Meta");
  }
  CHECK(operators[2]["abstract"]["name"] == "theirs.fake");
  CHECK(operators[2]["abstract"]["required"] == 1);
  CHECK(operators[2]["kernels"].size() == 2);
  CHECK(operators[3]["abstract"] == json{{"name", "Meta"}, {"kind", "meta"}});
  CHECK(operators[3]["kernels"].size() == 2);
  CHECK(operators[4]["abstract"] == json{{"name", "Meta"}, {"kind", "meta"}});
  CHECK(operators[4]["kernels"].size() == 2);
}

TEST_CASE("what Python registers stands where it was registered, not where the library was made") {
  const Packages packages(names_since_2_0);
  const auto outcome = run("torch", {.modules = {"placed"}});
  if (!outcome) return;
  const json manifest = manifest_of(*outcome);
  REQUIRE(names_of(manifest) == json::array({"placed::first", "placed::second"}));
  const json& operators = manifest["operators"];
  const auto line = [](std::size_t number) {
    return json{{"file", "placed.py"}, {"line", number}};
  };
  CHECK(operators[0]["location"] == line(4));
  CHECK(operators[1]["location"] == line(5));
  CHECK(operators[0]["defined_in"] == "python");
  REQUIRE(operators[0]["kernels"].size() == 1);
  CHECK(operators[0]["kernels"][0]["location"] == line(6));
}

TEST_CASE("namespaces select, and what selects nothing is an error") {
  const Packages packages(names_since_2_0);
  const auto late = run("torch", {.modules = {"mine"}, .namespaces = {"aten"}});
  if (!late) return;
  CHECK(names_of(manifest_of(*late)) == json::array({"aten::add", "aten::late"}));

  const auto absent = run("torch", {.namespaces = {"absent"}});
  CHECK(absent->status == ExportStatus::failed);
  CHECK(absent->message.find("no operator in the namespace `absent`") != std::string::npos);
  const auto idle = run("torch", {.modules = {"idle"}});
  CHECK(idle->message.find("no operator is registered by importing `idle`") != std::string::npos);
}

}  // namespace opseal::test
