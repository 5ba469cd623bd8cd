// The exporters of ONNX Runtime, tvm-ffi and ExecuTorch on packages that pose as theirs. The real
// ones are the business of `live_runtime_test.py`.

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

// An operator in two versions, one kernel for both and one without a schema.
constexpr std::string_view onnx_registries = R"python(
import os, signal
from types import SimpleNamespace as Record

def word(name):
    return Record(name=name)

def operand(name, option, type_name):
    return Record(name=name, option=word(option), typeStr=type_name)

def schema(version, deprecated, level, shape_function):
    return Record(
        domain="", name="Twice", since_version=version, deprecated=deprecated,
        support_level=word(level), has_type_and_shape_inference_function=shape_function,
        inputs=[operand("x", "Single", "T"), operand("rest", "Variadic", "T")],
        outputs=[operand("y", "Optional", "T")],
        attributes={"axis": Record(type=word("INT"))},
        type_constraints=[Record(type_param_str="T", allowed_type_strs={"tensor(int8)", "tensor(float)"})],
    )

def get_all_operator_schema():
    return [schema(7, False, "COMMON", True), schema(3, True, "EXPERIMENTAL", False)]

def kernel(name, first, last, provider="CPUExecutionProvider", domain=""):
    return Record(domain=domain, op_name=name, provider=provider, version_range=(first, last),
                  type_constraints={"T": ["tensor(int8)", "tensor(float)"]})

def get_all_opkernel_def():
    if "CRASH" in os.environ:
        os.kill(os.getpid(), signal.SIGSEGV)
    return [kernel("Twice", 7, 2**31 - 1), kernel("Twice", 4, 6, "CUDAExecutionProvider"),
            kernel("Lonely", 5, 5, domain="my.domain")]
)python";

constexpr std::string_view onnx_definitions = R"python(
from types import SimpleNamespace as Record

def get_all_schemas_with_history():
    return [Record(domain="", name="Twice", since_version=3, has_function=True)]
)python";

// As much of the C interface as a library of custom operators touches.
constexpr std::string_view runtime_library = R"c(
#include <stddef.h>
static const char* domain_name;
static const char* message(void* status) { return (const char*)status; }
static void* make_options(void** out) { *out = (void*)&domain_name; return NULL; }
static void* make_domain(const char* name, void** out) { *out = (void*)name; return NULL; }
static void* accept(void* first, void* second) { (void)first; (void)second; return NULL; }
static void* table[300];
static void** get_api(unsigned version) {
  if (version > 21) return NULL;
  table[2] = (void*)message;
  table[10] = (void*)make_options;
  table[26] = (void*)make_domain;
  table[27] = (void*)accept;
  table[28] = (void*)accept;
  return table;
}
static const char* version_text(void) { return "1.21.0"; }
static struct { void* get_api; void* get_version; } base = {(void*)get_api, (void*)version_text};
void* OrtGetApiBase(void) { return &base; }
)c";

// One operator of an old interface, without the newer fields, and one of a new one. Two domains,
// of which one is never handed over.
constexpr std::string_view operator_library = R"c(
#include <stdio.h>
#include <stdlib.h>
typedef struct { void** (*get_api)(unsigned); const char* (*get_version)(void); } Base;
typedef struct { unsigned version; void* fields[21]; } Op;
static const char* old_name(const Op* op) { (void)op; return "Old"; }
static const char* new_name(const Op* op) { (void)op; return "New"; }
static const char* provider(const Op* op) { (void)op; return "CUDAExecutionProvider"; }
static int float_type(const Op* op, size_t at) { (void)op; return at == 0 ? 1 : 10; }
static int any_type(const Op* op, size_t at) { (void)op; (void)at; return 0; }
static size_t two(const Op* op) { (void)op; return 2; }
static size_t one(const Op* op) { (void)op; return 1; }
static int second_optional(const Op* op, size_t at) { (void)op; return (int)at; }
static int three(const Op* op) { (void)op; return 3; }
static int nine(const Op* op) { (void)op; return 9; }
/* Fields beyond the version hold whatever the author left there. */
static Op old_op = {7, {0, old_name, 0, float_type, two, float_type, one, 0, 0, (void*)8, (void*)8}};
static Op new_op = {17, {0, new_name, provider, any_type, two, float_type, one, 0, 0, second_optional,
                         0, 0, 0, 0, 0, 0, 0, 0, one, three, nine}};
void* RegisterCustomOps(void* options, const Base* base) {
  if (getenv("REFUSE")) return "no licence";
  if (getenv("CRASH")) abort();
  void** api = base->get_api(21);
  void *domain, *forgotten;
  void* (*create)(const char*, void**) = (void* (*)(const char*, void**))api[26];
  void* (*add)(void*, void*) = (void* (*)(void*, void*))api[27];
  create("my.ops", &domain);
  create("forgotten", &forgotten);
  add(domain, &old_op);
  add(domain, &new_op);
  add(forgotten, &new_op);
  ((void* (*)(void*, void*))api[28])(options, domain);
  if (base->get_api(99) != 0) return "an interface that is not there";
  return 0;
}
)c";

constexpr std::string_view ffi_registry = R"python(
import json

_functions = {
    "my.named": {"named_args": {"params": [{"type": "int"}, {"type": "Any"}], "return": [{"type": "None"}]}},
    "my.listed": {"args": [{"type": "bool"}, {"type": "int"}]},
    "my.anything": {},
    "plain": None,
}

def list_global_func_names():
    return list(_functions)

def get_global_func_metadata(name):
    if name == "plain":
        raise RuntimeError("no metadata")
    return {"type_schema": json.dumps({"type": "ffi.Function", **_functions[name]})}

def get_registered_type_keys():
    return ["ffi.Tensor", "bool"]
)python";

// JSON is YAML enough for the file below; an entry begins at each `{"`.
constexpr std::string_view small_yaml = R"python(
import json
from types import SimpleNamespace as Record

class YAMLError(Exception):
    pass

class SafeLoader:
    pass

def load(text, loader):
    return json.loads(text)

def compose(text, loader):
    starts = [number for number, line in enumerate(text.splitlines()) if line.startswith('{"')]
    return Record(value=[Record(start_mark=Record(line=number)) for number in starts])
)python";

constexpr std::string_view portable_kernels = R"json([
{"op": "cos.out", "kernels": [{"arg_meta": null, "kernel_name": "torch::executor::cos_out"}]},
{"func": "my::twice.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", "kernels":
  [{"arg_meta": null, "kernel_name": "my::twice_out"}]}
])json";

constexpr std::string_view edge_dialect = R"([
{"func": "aten::cos", "inherits": "aten::cos", "type_alias": {"T0": ["Float", "Half"]},
 "type_constraint": [{"self": "T0", "__ret_0": "T0"}]}
])";

constexpr std::string_view portable_runtime = R"python(
def _get_operator_names():
    return ["aten::cos.out", "prim::add"]

def _get_registered_backend_names():
    return ["XnnpackBackend"]
)python";

// A folder that is the only entry of PYTHONPATH while the test runs.
class Packages {
 public:
  Packages() {
    std::string name = (fs::temp_directory_path() / "opseal-runtime-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder_ = name;
    ::setenv("PYTHONPATH", folder_.c_str(), 1);
  }
  ~Packages() {
    ::unsetenv("PYTHONPATH");
    for (const char* variable : {"CRASH", "REFUSE"}) ::unsetenv(variable);
    fs::remove_all(folder_);
  }
  Packages(const Packages&) = delete;
  Packages& operator=(const Packages&) = delete;

  void write(const std::string& file, std::string_view text) const {
    fs::create_directories((folder_ / file).parent_path());
    std::ofstream(folder_ / file) << text;
  }

  void write_onnxruntime() const {
    write("onnxruntime/__init__.py", "");
    write("onnxruntime/capi/__init__.py", "");
    write("onnxruntime/capi/onnxruntime_pybind11_state.py", onnx_registries);
  }

  void write_executorch() const {
    write("executorch/kernels/portable/functions.yaml", portable_kernels);
    write("executorch/kernels/portable/custom_ops.yaml", "{}");
    write("executorch/exir/dialects/edge/edge.yaml", edge_dialect);
    write("executorch/extension/pybindings/portable_lib.py", portable_runtime);
    write("yaml.py", small_yaml);
  }

  // No compiler: false.
  bool compile(std::string_view source, const std::string& library) const {
    write("source.c", source);
    const std::string command = "cc -w -shared -fPIC -o '" + (folder_ / library).string() + "' '" +
                                (folder_ / "source.c").string() + "' 2>/dev/null";
    return std::system(command.c_str()) == 0;
  }

  std::string path(const std::string& file) const { return (folder_ / file).string(); }

 private:
  fs::path folder_;
};

// The operator of that name and, where it matters, version; null where there is none.
json operator_of(const json& manifest, const std::string& name, int since = -1) {
  for (const json& each : manifest["operators"]) {
    const bool fits = since < 0 || each["versions"]["since"] == since;
    if (each["name"] == name && fits) return each;
  }
  return nullptr;
}

bool is_remarked(const json& manifest, const std::string& part) {
  const json remarks = manifest.value("remarks", json::array());
  return std::ranges::any_of(remarks, [&](const json& remark) {
    return remark.get<std::string>().find(part) != std::string::npos;
  });
}

// The library of custom operators, on a runtime that poses as the real one; empty: no compiler.
std::string custom_library(const Packages& packages) {
  packages.write_onnxruntime();
  if (!packages.compile(runtime_library, "onnxruntime/capi/libonnxruntime.so.1.21.0") ||
      !packages.compile(operator_library, "libmy_ops.so")) {
    std::cout << "skipped: no C compiler\n";
    return {};
  }
  return packages.path("libmy_ops.so");
}

}  // namespace

TEST_CASE("schemas of ONNX Runtime end where the next begins, kernels stand where they begin") {
  const Packages packages;
  packages.write_onnxruntime();
  packages.write("onnx/__init__.py", "");
  packages.write("onnx/defs.py", onnx_definitions);
  const auto outcome = run("onnxruntime");
  if (!outcome) return;
  const json manifest = manifest_of(*outcome);
  CHECK(manifest["platforms"] == json({"CPUExecutionProvider", "CUDAExecutionProvider"}));
  CHECK(operator_of(manifest, "Twice", 3) == json::parse(R"json({"name": "Twice",
    "namespace": "ai.onnx", "versions": {"since": 3, "until": 6}, "arity_source": "schema",
    "inputs": [{"name": "x", "type": "T"}, {"name": "rest", "variadic": true, "type": "T"}],
    "outputs": [{"name": "y", "optional": true, "type": "T"}],
    "attributes": [{"name": "axis", "type": "INT"}],
    "type_constraints": {"T": ["tensor(float)", "tensor(int8)"]}, "abstract": null,
    "deprecated": true, "experimental": true, "function_body": true,
    "kernels": [{"platform": "CUDAExecutionProvider", "versions": {"since": 4, "until": 6},
                 "type_constraints": {"T": ["tensor(int8)", "tensor(float)"]}}]})json"));
  const json newer = operator_of(manifest, "Twice", 7);
  CHECK(newer["versions"]["until"] == nullptr);
  CHECK(newer["kernels"][0]["versions"] == json({{"since", 7}, {"until", nullptr}}));
  // Onnx was not asked about a version that it does not know.
  CHECK(!newer.contains("function_body"));
  CHECK(!newer.contains("abstract"));
  CHECK(operator_of(manifest, "Lonely")["namespace"] == "my.domain");
  CHECK(operator_of(manifest, "Lonely")["kernels"].size() == 1);
}

TEST_CASE("of ONNX Runtime, only the domains that were asked for are written") {
  const Packages packages;
  packages.write_onnxruntime();
  const auto outcome = run("onnxruntime", {.namespaces = {"my.domain"}});
  if (!outcome) return;
  const json manifest = manifest_of(*outcome);
  REQUIRE(manifest["operators"].size() == 1);
  CHECK(manifest["operators"][0]["name"] == "Lonely");
  // Still those that the registry knows.
  CHECK(manifest["platforms"].size() == 2);
  const auto absent = run("onnxruntime", {.namespaces = {"absent"}});
  CHECK(absent->message.ends_with("no operator in the namespace `absent`"));
}

TEST_CASE("kernels are not said where asking for them crashes") {
  const Packages packages;
  packages.write_onnxruntime();
  ::setenv("CRASH", "1", 1);
  const auto outcome = run("onnxruntime");
  if (!outcome) return;
  const json manifest = manifest_of(*outcome);
  CHECK(manifest["operators"].size() == 2);
  CHECK(!operator_of(manifest, "Twice").contains("kernels"));
  CHECK(!manifest.contains("platforms"));
  CHECK(is_remarked(manifest, "`kernels` is not said: ended by signal 11"));
  CHECK(is_remarked(manifest, "`function_body` is not said"));
}

TEST_CASE("custom operators are asked what their version of the interface has") {
  const Packages packages;
  const std::string library = custom_library(packages);
  if (library.empty()) return;
  const auto outcome = run("onnxruntime", {.custom_ops = {library}});
  if (!outcome) return;
  const json manifest = manifest_of(*outcome);
  CHECK(operator_of(manifest, "Old") == json::parse(R"json({"name": "Old", "namespace": "my.ops",
    "versions": {"since": 1, "until": null}, "arity_source": "declared",
    "inputs": [{"type": "tensor(float)"}, {"type": "tensor(float16)"}],
    "outputs": [{"type": "tensor(float)"}], "defined_in": "native", "abstract": null,
    "kernels": [{"platform": "CPUExecutionProvider", "versions": {"since": 1, "until": null},
                 "library": "libmy_ops.so",
                 "signatures": [["tensor(float)", "tensor(float16)", "tensor(float)"]]}]})json"));
  CHECK(operator_of(manifest, "New") == json::parse(R"json({"name": "New", "namespace": "my.ops",
    "versions": {"since": 3, "until": 9}, "arity_source": "declared",
    "inputs": [{}, {"optional": true}],
    "outputs": [{"type": "tensor(float)"}], "defined_in": "native",
    "kernels": [{"platform": "CUDAExecutionProvider", "versions": {"since": 3, "until": 9},
                 "library": "libmy_ops.so"}]})json"));
  CHECK(manifest["operators"].size() == 5);
}

TEST_CASE("a library of custom operators that cannot be read ends the export") {
  const Packages packages;
  const std::string library = custom_library(packages);
  if (library.empty()) return;
  const auto message = [&](const std::string& path) {
    const auto outcome = run("onnxruntime", {.custom_ops = {path}});
    if (outcome) CHECK(outcome->status == ExportStatus::failed);
    return outcome ? outcome->message : std::string();
  };
  const auto has = [](const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(has(message(packages.path("onnxruntime/capi/libonnxruntime.so.1.21.0")),
            "no function `RegisterCustomOps`"));
  CHECK(has(message(packages.path("absent.so")), "absent.so` cannot be read: "));
  ::setenv("REFUSE", "1", 1);
  CHECK(has(message(library), "no licence"));
  ::unsetenv("REFUSE");
  fs::remove(packages.path("onnxruntime/capi/libonnxruntime.so.1.21.0"));
  CHECK(has(message(library), "the package has no `libonnxruntime.so`"));
}

TEST_CASE("a crash of a library of custom operators is told by its signal") {
  const Packages packages;
  const std::string library = custom_library(packages);
  if (library.empty()) return;
  // The kernels crash as well, and are only not said.
  ::setenv("CRASH", "1", 1);
  const auto outcome = run("onnxruntime", {.custom_ops = {library}});
  if (!outcome) return;
  CHECK(outcome->status == ExportStatus::failed);
  CHECK(outcome->message.find("cannot be read: ended by signal 6") != std::string::npos);
}

TEST_CASE("functions of tvm-ffi are counted by either form of their schema") {
  const Packages packages;
  packages.write("tvm_ffi/__init__.py", "");
  packages.write("tvm_ffi/registry.py", ffi_registry);
  const auto outcome = run("tvm-ffi");
  if (!outcome) return;
  const json manifest = manifest_of(*outcome);
  CHECK(manifest["system"] == "tvm-ffi");
  CHECK(manifest["x-type-keys"] == json({"bool", "ffi.Tensor"}));
  const auto counts = [&](const std::string& name) {
    const json function = operator_of(manifest, name);
    return json({function.value("inputs", -1), function.value("outputs", -1)});
  };
  CHECK(counts("my.named") == json({2, 0}));
  CHECK(counts("my.listed") == json({1, 1}));
  CHECK(counts("my.anything") == json({-1, -1}));
  CHECK(operator_of(manifest, "my.named")["namespace"] == "my");
  CHECK(!operator_of(manifest, "plain").contains("schema"));
  CHECK(is_remarked(manifest, "fails with RuntimeError, so some `schema` is not said"));
}

TEST_CASE("ExecuTorch's files and its runtime are two witnesses") {
  const Packages packages;
  packages.write_executorch();
  const auto outcome = run("executorch");
  if (!outcome) return;
  const json manifest = manifest_of(*outcome);
  CHECK(operator_of(manifest, "aten::cos.out") == json::parse(R"json({"name": "aten::cos.out",
    "namespace": "aten", "location": {"file": "executorch/kernels/portable/functions.yaml", "line": 2},
    "type_constraints": {"T0": ["Float", "Half"]}, "x-edge": [{"self": "T0", "__ret_0": "T0"}],
    "kernels": [{"platform": "CPU", "symbol": "torch::executor::cos_out", "source": "portable-cpu",
                 "witnesses": ["declared", "registered"]}]})json"));
  const json twice = operator_of(manifest, "my::twice.out");
  CHECK(twice["location"]["line"] == 3);
  CHECK(twice["schema"] == "my::twice.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)");
  CHECK(twice["kernels"][0]["witnesses"] == json({"declared"}));
  CHECK(operator_of(manifest, "prim::add")["kernels"][0]["witnesses"] == json({"registered"}));
  CHECK(manifest["x-backends"] == json({"XnnpackBackend"}));
  CHECK(is_remarked(manifest, "`kernels/portable/custom_ops.yaml` is no list of operators"));
  CHECK(is_remarked(manifest, "`kernels/quantized/quantized.yaml` cannot be read"));
}

TEST_CASE("what ExecuTorch's files say survives its runtime") {
  const Packages packages;
  packages.write_executorch();
  packages.write("executorch/extension/pybindings/portable_lib.py",
                 "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n");
  const auto outcome = run("executorch");
  if (!outcome) return;
  const json manifest = manifest_of(*outcome);
  CHECK(manifest["operators"].size() == 2);
  CHECK(!manifest.contains("x-backends"));
  CHECK(is_remarked(manifest, "what is registered is not said: ended by signal 11"));
}

}  // namespace opseal::test
