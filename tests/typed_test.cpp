// What libclang tells, where it is installed.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>

#include "cli/process.h"
#include "tests/source_folder.h"
#include "tests/support.h"
#include "tests/tree.h"

namespace fs = std::filesystem;

namespace opseal::test {
namespace {

// Nothing where there is no libclang, and then it is said.
std::optional<Facts> read_with_types(Sources sources, std::uint32_t seconds = 10) {
  std::sort(sources.begin(), sources.end());
  SourceFolder folder;
  folder.place.path = "project";
  for (const auto& [path, text] : sources) {
    InputFile file;
    file.path = path;
    file.bytes = text;
    file.size = text.size();
    folder.files.push_back(file);
  }
  TypedOutcome outcome;
  const TypedOptions options{.wanted = true,
                             .program = OPSEAL_BINARY,
                             .seconds = seconds,
                             .cache = {},
                             .outcome = &outcome};
  Facts facts = load_sources(folder, 2, {}, nullptr, options);
  if (!outcome.reason().empty()) {
    std::cout << "skipped: " << outcome.reason() << '\n';
    return {};
  }
  return facts;
}

std::string signatures(const Facts& facts) {
  std::string text;
  for (const Fact op : manifest_of(facts, "torch")[Key::operators].items()) {
    for (const Fact kernel : op[Key::kernels].items()) {
      text += std::string(op[Key::name].text()) + ' ';
      text += std::string(kernel[Key::native_signature].text("-")) +
              (kernel[Key::tier].is("typed") ? " typed\n" : "\n");
    }
  }
  return text;
}

// Of the documents without a system.
std::string pointers(const Facts& facts) {
  std::string text;
  for (const Document& document : facts.documents) {
    for (const Fact one : facts.root(document)[Key::pointers].items()) {
      text += std::string(one[Key::type].text()) + ' ' + std::string(one[Key::expression].text()) +
              '\n';
    }
  }
  return text;
}

std::string registrars(const Facts& facts) {
  std::string text;
  for (const Fact one : manifest_of(facts, "engine")[Key::registrars].items()) {
    text += std::string(one[Key::type].text()) + ' ' + std::string(one[Key::name].text()) +
            std::string(one[Key::status].text());
    for (const Fact use : one[Key::uses].items()) {
      text += " reads " + std::string(use[Key::name].text());
    }
    text += '\n';
  }
  return text;
}

constexpr const char* types_header =
    "#pragma once\n"
    "namespace lib {\n"
    "using index_t = int64_t;\n"
    "using torch::Tensor;\n"
    "typedef std::vector<index_t> Sizes;\n"
    "template <class T> using Maybe = std::optional<T>;\n"
    "#ifdef USE_ROCM\nusing stride_t = int32_t;\n#else\nusing stride_t = int64_t;\n#endif\n"
    "}\n";

constexpr const char* kernels_source =
    "#include <torch/library.h>\n"
    "#include \"types.h\"\n"
    "namespace lib {\n"
    "at::Tensor plain(const at::Tensor& x, int64_t n) { return x; }\n"
    "at::Tensor named(const Tensor& x, index_t n, Maybe<Sizes> s) { return x; }\n"
    "auto worked_out(const at::Tensor& x) { return std::make_tuple(x, x); }\n"
    "at::Tensor either(const at::Tensor& x, stride_t n) { return x; }\n"
    "at::Tensor unknown(const at::Tensor& x, elsewhere::Type n, index_t m) { return x; }\n"
    "using Unary = at::Tensor(const at::Tensor&, index_t);\n"
    "Unary by_type;\n"
    "template <class T> at::Tensor any(const at::Tensor& x, T n) { return x; }\n"
    "constexpr auto variable = &any<index_t>;\n"
    "at::Tensor twice(const at::Tensor& x, index_t n);\n"
    "at::Tensor twice(const at::Tensor& x, double n, bool b);\n"
    "}\n"
    "TORCH_LIBRARY(lib, m) {\n"
    "  m.def(\"plain(Tensor x, int n) -> Tensor\");\n"
    "}\n"
    "TORCH_LIBRARY_IMPL(lib, CPU, m) {\n"
    "  m.impl(\"plain\", lib::plain);\n"
    "  m.impl(\"named\", &lib::named);\n"
    "  m.impl(\"worked_out\", TORCH_FN(lib::worked_out));\n"
    "  m.impl(\"either\", lib::either);\n"
    "  m.impl(\"unknown\", lib::unknown);\n"
    "  m.impl(\"by_type\", lib::by_type);\n"
    "  m.impl(\"variable\", lib::variable);\n"
    "  m.impl(\"twice\", lib::twice);\n"
    "  m.impl(\"lambda\", [](const at::Tensor& x, lib::index_t n) { return x; });\n"
    "}\n";

}  // namespace

TEST_CASE("typed: names that a project gives to types are followed") {
  const auto facts =
      read_with_types({{"csrc/types.h", types_header}, {"csrc/ops.cpp", kernels_source}});
  if (!facts) return;
  CHECK(signatures(*facts) ==
        "lib::by_type at::Tensor (const at::Tensor &, int64_t) typed\n"
        "lib::either at::Tensor (const at::Tensor& x, stride_t n)\n"
        "lib::lambda (const at::Tensor & x, int64_t n) typed\n"
        "lib::named at::Tensor (const at::Tensor & x, int64_t n, "
        "std::optional<std::vector<int64_t>> s) typed\n"
        "lib::plain at::Tensor (const at::Tensor& x, int64_t n)\n"
        "lib::twice -\n"
        "lib::unknown at::Tensor (const at::Tensor& x, elsewhere::Type n, index_t m)\n"
        "lib::variable at::Tensor (const at::Tensor &, int64_t) typed\n"
        "lib::worked_out std::tuple<at::Tensor, at::Tensor> (const at::Tensor & x) typed\n");
}

TEST_CASE("typed: a pointer is told that outlives the temporary which owns its memory") {
  const auto facts = read_with_types(
      {{"csrc/buffer.h",
        "class Buffer {\n public:\n  Buffer(const Buffer&) = delete;\n"
        "  ~Buffer() { std::free(data_); }\n  float* data() const { return data_; }\n"
        "  template <class T> T* as() { return reinterpret_cast<T*>(data_); }\n"
        "  float* release();\n  static float* shared();\n private:\n  float* data_;\n};\n"
        "class View {\n public:\n  float* data() const;\n private:\n  float* data_;\n};\n"
        "class Counted {\n public:\n  ~Counted() { if (--*count_ == 0) delete[] data_; }\n"
        "  float* data() const { return data_; }\n  int* count_;\n  float* data_;\n};\n"
        "struct Holder {\n  std::vector<float> values;\n"
        "  const float* get() const { return values.data(); }\n"
        "  const char* kind() const { return \"holder\"; }\n};\n"
        "Buffer pack(int n);\nView look(int n);\nCounted count(int n);\nHolder hold();\n"
        "std::string name_of(int n);\nconst Buffer& global();\nvoid use(const void*);\n"},
       {"csrc/run.cpp",
        "#include \"buffer.h\"\n"
        "float* kept;\n"
        "struct Plan { const float* rows; };\n"
        "struct Keeper {\n  Keeper() : rows_(pack(20).data()), same_(global().data()) {}\n"
        "  float* rows_;\n  float* same_;\n};\n"
        "void take(Plan plan);\n"
        "const char* give() { return name_of(1).c_str(); }\n"
        "void run(Plan& plan) {\n"
        "  float* a = pack(1).data();\n"
        "  void* b = reinterpret_cast<void*>(pack(2).data());\n"
        "  auto c = (char*)(pack(3).data());\n"
        "  kept = pack(4).data();\n"
        "  plan.rows = hold().get();\n"
        "  int* d = pack(21).as<int>();\n"
        "  Plan listed{pack(22).data()};\n"
        "  take(Plan{pack(23).data()});\n"
        "  float* fine = look(5).data();\n"
        "  fine = count(6).data();\n"
        "  fine = global().data();\n"
        "  fine = pack(7).release();\n"
        "  fine = pack(8).shared();\n"
        "  const char* kind = hold().kind();\n"
        "  use(pack(9).data());\n"
        "  const auto named = pack(10);\n"
        "  fine = named.data();\n"
        "  fine = CHECKED(pack(11).data());\n"
        "  const auto view = [] { return name_of(12).c_str() != nullptr; }();\n"
        "}\n"}});
  if (!facts) return;
  CHECK(pointers(*facts) ==
        "Buffer pack(20).data()\n"
        "string name_of(1).c_str()\n"
        "Buffer pack(1).data()\n"
        "Buffer pack(2).data()\n"
        "Buffer pack(3).data()\n"
        "Buffer pack(4).data()\n"
        "Holder hold().get()\n"
        "Buffer pack(21).as<int>()\n"
        "Buffer pack(22).data()\n");
}

TEST_CASE("typed: whether somebody reads what a registration answers") {
  const auto facts = read_with_types(
      {{"csrc/run.cpp",
        "enum class Status { ok, full };\n"
        "struct OpError { int code; };\n"
        "struct [[nodiscard]] Outcome { int code; };\n"
        "struct Registry {\n  Outcome Add(const char* name);\n  Registry& chain(int n);\n};\n"
        "Status RegisterKernel(int n);\nOpError try_register(int n);\n"
        "void register_quietly(int n);\nRegistry& RegisterAndGo(int n);\n"
        "[[nodiscard]] bool RegisterChecked(int n);\nStatus UnregisterKernel(int n);\n"
        "Status cudaHostRegister(int n);\n"
        "Status all(Registry& registry, bool more) {\n"
        "  RegisterKernel(1);\n"
        "  if (more) RegisterKernel(2);\n"
        "  for (int i = 0; i < 3; ++i) try_register(i);\n"
        "  registry.Add(\"x\");\n"
        "  RegisterChecked(3);\n"
        "  if (RegisterKernel(4) != Status::ok) return Status::full;\n"
        "  (void)RegisterKernel(5);\n"
        "  RETURN_IF_ERROR(RegisterKernel(6));\n"
        "  const Status kept = RegisterKernel(7);\n"
        "  register_quietly(8);\n  RegisterAndGo(9).chain(1);\n  UnregisterKernel(10);\n"
        "  cudaHostRegister(11);\n"
        "  return RegisterKernel(12);\n"
        "}\n"
        "absl::Status RegisterLate(int n);\n"
        "static struct Init { Init() { RegisterLate(13); } } init;\n"}});
  if (!facts) return;
  CHECK(registrars(*facts) ==
        "RegisterKernel dropped\n"
        "RegisterKernel dropped\n"
        "try_register dropped\n"
        "Add dropped\n"
        "RegisterChecked dropped\n"
        "RegisterKernel checked\n"
        "RegisterKernel checked\n"
        "RegisterKernel checked\n"
        "RegisterKernel checked\n"
        "RegisterKernel checked\n"
        "RegisterLate dropped\n"
        "Init init\n");
}

TEST_CASE("typed: what a registrar reads of other files before they are initialized") {
  const auto facts = read_with_types(
      {{"csrc/table.h",
        "#pragma once\nnamespace lib {\n"
        "extern std::unordered_map<std::string, int> table;\n"
        "extern int version;\nextern const char* title;\nextern std::mutex guard;\n"
        "struct Names { static std::map<int, int> known; };\n"
        "std::map<int, int>& safe();\n"
        "struct Registrar { Registrar(int n) { table[\"n\"] = n; } };\n"
        "struct SafeRegistrar { SafeRegistrar(int n) { safe()[n] = version; guard.lock(); } };\n"
        "struct Table { static void add(int n) { Names::known[n] = n; if (n > 3) add(n - 1); } };\n"
        "struct FarRegistrar { FarRegistrar(int n) { Table::add(n); } };\n"
        "struct LateRegistrar { LateRegistrar(std::unordered_map<std::string, int>* where); };\n"
        "}\n"},
       {"csrc/table.cpp",
        "#include \"table.h\"\nnamespace lib {\n"
        "std::unordered_map<std::string, int> table;\nint version = 3;\n"
        "const char* title = \"x\";\nstd::mutex guard;\nstd::map<int, int> Names::known;\n"
        "std::map<int, int>& safe() { static std::map<int, int> one; return one; }\n"
        "static Registrar own(1);\n"
        "}\n"},
       {"csrc/scale.cpp",
        "#include \"table.h\"\nnamespace lib {\n"
        "static Registrar scale(1);\n"
        "static SafeRegistrar safe_scale(2);\n"
        "__attribute__((init_priority(2000))) Registrar early(1);\n"
        "static FarRegistrar far(3);\n"
        "static LateRegistrar late(&table);\n"
        "static const bool registered = [] { Names::known[1] = 2; return true; }();\n"
        "static const bool registered_later = [] { auto add = [] { table[\"x\"] = 1; }; return "
        "true; "
        "}();\n"
        "static int entries = static_cast<int>(table.size());\n"
        "}\n"}});
  if (!facts) return;
  CHECK(registrars(*facts) ==
        "Registrar scale reads lib::table\n"
        "SafeRegistrar safe_scale\n"
        "FarRegistrar far reads lib::Names::known\n"
        "LateRegistrar late\n"
        "const bool registered reads lib::Names::known\n"
        "const bool registered_later\n"
        "Registrar own\n");
}

TEST_CASE("typed: a file that is cut anywhere costs at most its own facts") {
  Sources sources{{"csrc/types.h", types_header}, {"csrc/whole.cpp", kernels_source}};
  const std::string text = kernels_source;
  for (std::size_t length = 0; length < text.size(); length += 64) {
    sources.emplace_back("csrc/cut" + std::to_string(length) + ".cpp", text.substr(0, length));
    std::string flipped = text;
    flipped[length] = '\x01';
    sources.emplace_back("csrc/flip" + std::to_string(length) + ".cpp", flipped);
  }
  const auto facts = read_with_types(std::move(sources));
  if (!facts) return;
  CHECK(signatures(*facts).find("lib::named at::Tensor (const at::Tensor & x") !=
        std::string::npos);
}

TEST_CASE("typed: a file that never ends is given up, and the next one is read") {
  std::string endless = "#define A0 x x x x\n";
  for (int at = 1; at < 30; ++at) {
    const std::string before = "A" + std::to_string(at - 1) + ' ';
    endless += "#define A" + std::to_string(at) + ' ' + before + before + before + before + '\n';
  }
  endless += "int RegisterMe();\nint y = A29;\n";
  const auto facts = read_with_types(
      {{"csrc/a.cpp", endless},
       {"csrc/b.cpp", "enum Status { ok };\nStatus RegisterB();\nvoid f() { RegisterB(); }\n"}},
      1);
  if (!facts) return;
  CHECK(registrars(*facts) == "RegisterB dropped\n");
  REQUIRE(facts->problems.size() == 1);
  CHECK(facts->problems[0].severity == Severity::note);
  CHECK(facts->problems[0].message.starts_with("not read with types: libclang "));
}

// The kinds that a predicate accepts, those that its dispatch serves, and how often those of
// another enumeration are mentioned.
std::string claims(const Facts& facts) {
  std::string text;
  for (const Fact pair : manifest_of(facts, "engine")[Key::dispatch].items()) {
    for (const Fact kind : pair[Key::predicate][Key::kinds].items()) {
      text += std::string(kind.text()) + ' ';
    }
    text += '|';
    for (const Fact entry : pair[Key::table][Key::entries].items()) {
      text += ' ' + std::string(entry[Key::kind].text());
    }
    for (const Fact tested : pair[Key::predicate][Key::tested].items()) {
      for (const Fact entry : tested[Key::entries].items()) {
        text += " (" + std::string(entry[Key::kind].text()) + ' ' +
                std::to_string(entry[Key::mentioned].count()) + ')';
      }
    }
    text += pair[Key::tier].is("typed") ? " typed\n" : "\n";
  }
  return text;
}

const std::string pair_head =
    "enum class Op { Add, Mul, Sub, Div };\n"
    "struct Node { Op op; };\n"
    "void run(const Node&);\n"
    "constexpr Op pick(bool first) { return first ? Op::Add : Op::Sub; }\n"
    "template <class T> struct Traits { static constexpr Op op = Op::Mul; };\n"
    "template <> struct Traits<float> { static constexpr auto op = pick(false); };\n"
    "constexpr Op kFirst = pick(true);\n";

const std::string pair_end =
    "struct Interface { bool (*supports_op)(const Node&); };\n"
    "void init(Interface* cpu) { cpu->supports_op = supports; }\n";

TEST_CASE("typed: a value that code works out is the enumerator that it comes to") {
  const std::string source =
      pair_head +
      "bool supports(const Node& n) {\n"
      "  switch (n.op) { case kFirst: case Op::Mul: case Op::Sub: return true;\n"
      "    default: return false; }\n}\n"
      "void forward(const Node& n) {\n"
      "  if (n.op == Traits<float>::op) { run(n); return; }\n"
      "  switch (static_cast<int>(n.op)) {\n"
      "    case int(pick(true)): run(n); break;\n"
      "    case static_cast<int>(Traits<int>::op): run(n); break;\n"
      "    default: abort(); }\n}\n" +
      pair_end;
  const std::optional<Facts> facts = read_with_types({{"csrc/cpu.cpp", source}});
  if (!facts) return;
  CHECK(claims(*facts) == "Add Mul Sub | Add Mul Sub typed\n");
  // Text alone doesn't tell, and says nothing.
  SourceFolder folder;
  folder.place.path = "project";
  folder.files.emplace_back();
  folder.files.back().path = "csrc/cpu.cpp";
  folder.files.back().bytes = source;
  folder.files.back().size = source.size();
  CHECK(claims(load_sources(folder, 1)).empty());
}

TEST_CASE("typed: an enumerator of another enumeration is no use of its namesake") {
  const std::string source =
      pair_head +
      "enum class Type { F32, F16, Q8 };\nenum class Layout { F32, Q8 };\n"
      "bool supports(const Node& n, Type t) {\n"
      "  switch (n.op) {\n"
      "    case Op::Add: { switch (t) { case Type::F32: case Type::F16: case Type::Q8: return "
      "true;\n"
      "      default: return false; } }\n"
      "    case Op::Mul: case Op::Sub: return true;\n    default: return false; }\n}\n"
      "int convert(Layout l) { return l == Layout::Q8 ? 1 : 0; }\n"
      "void forward(const Node& n, Type t) {\n"
      "  switch (n.op) {\n"
      "    case Op::Add: if (t == Type::F32 || t == Type::F16) run(n); break;\n"
      "    case Op::Mul: run(n); break;\n    case Op::Sub: run(n); break;\n"
      "    default: abort(); }\n}\n" +
      pair_end;
  const std::optional<Facts> facts = read_with_types({{"csrc/cpu.cpp", source}});
  if (!facts) return;
  CHECK(claims(*facts) == "Add Mul Sub | Add Mul Sub (F32 1) (F16 1) (Q8 0) typed\n");
}

// Fields of keys, and what each function of theirs doesn't use.
std::string keys(const Facts& facts) {
  std::string text;
  for (const Document& document : facts.documents) {
    for (const Fact cache : facts.root(document)[Key::caches].items()) {
      text += std::string(cache[Key::name].text());
      if (cache[Key::tier].is("typed")) text += " typed";
      for (const Fact function : cache[Key::functions].items()) {
        text += '\n' + std::string(function[Key::kind].text()) + " without";
        for (const Fact field : cache[Key::fields].items()) {
          bool used = false;
          for (const Fact use : function[Key::uses].items()) {
            used = used || use.text() == field.text();
          }
          if (!used) {
            text += ' ' + std::string(field.text());
          }
        }
      }
      text += '\n';
    }
  }
  return text;
}

constexpr const char* keys_source =
    "namespace detail { struct Common { int device; int stream_count; }; }\n"
    "template <class T> struct Tagged { T tag; };\n"
    "using Base = detail::Common;\n"
    "using Labelled = Tagged<int>;\n"
    "struct Shape { int rows; int cols; int* cached; };\n"
    "struct PlanKey : Base, Labelled {\n"
    "  Shape shape;\n  Shape other;\n  int dtype;\n"
    "  bool operator==(const PlanKey& o) const {\n"
    "    return device == o.device && stream_count == o.stream_count && tag == o.tag &&\n"
    "        shape.rows == o.shape.rows && shape.cols == o.shape.cols &&\n"
    "        other.rows == o.other.rows && dtype == o.dtype;\n  }\n};\n"
    "struct PlanKeyHash {\n"
    "  size_t operator()(const PlanKey& k) const {\n"
    "    return k.device + k.shape.rows * 31 + k.other.rows + same(k.other, k.other) + k.dtype;\n"
    "  }\n};\n"
    "std::unordered_map<PlanKey, int, PlanKeyHash> plans;\n";

TEST_CASE("typed: members of a key behind other names and within members") {
  const Sources sources{{"csrc/plan.h", keys_source}};
  const std::optional<Facts> facts = read_with_types(sources);
  if (!facts) return;
  CHECK(keys(*facts) ==
        "PlanKey typed\nequality without shape.cached\nhash without stream_count tag shape.cols "
        "shape.cached\n");
}

TEST_CASE("typed: an error that a launcher took and gave back is lost with its result") {
  const std::string launchers =
      "#include <cuda_runtime.h>\n"
      "using status_t = cudaError_t;\n"
      "void complain(const char*);\n"
      "__global__ void scale_kernel(float* x, int n) { x[threadIdx.x] *= n; }\n"
      "namespace ops {\n"
      "status_t launch_scale(float* x, int n, cudaStream_t s) {\n"
      "  scale_kernel<<<1, n, 0, s>>>(x, n);\n  return cudaGetLastError();\n}\n"
      // This one tells of it.
      "status_t launch_loud(float* x, int n) {\n  scale_kernel<<<1, n>>>(x, n);\n"
      "  complain(cudaGetErrorString(cudaPeekAtLastError()));\n  return cudaGetLastError();\n}\n"
      "}\n";
  const std::string callers =
      "#include <cuda_runtime.h>\n"
      "namespace ops {\n"
      "cudaError_t launch_scale(float* x, int n, cudaStream_t s);\n"
      "cudaError_t launch_loud(float* x, int n);\n"
      "}\n"
      "void drops(float* x) { ops::launch_scale(x, 1, 0); }\n"
      "cudaError_t hands_on(float* x) { return ops::launch_scale(x, 2, 0); }\n"
      "bool looks(float* x) { return ops::launch_scale(x, 3, 0) == cudaSuccess; }\n"
      "void on_purpose(float* x) { (void)ops::launch_scale(x, 4, 0); }\n"
      "void is_told(float* x) { ops::launch_loud(x, 5); }\n";
  const std::optional<Facts> facts =
      read_with_types({{"csrc/ops.cu", launchers}, {"csrc/calls.cu", callers}});
  if (!facts) return;
  std::string text;
  for (const Document& document : facts->documents) {
    for (const Fact launch : facts->root(document)[Key::launches].items()) {
      if (launch[Key::checked].truth()) continue;
      text += std::string(launch[Key::function].text()) + " calls " +
              std::string(launch[Key::kernel].text()) +
              (launch[Key::tier].is("typed") ? " typed\n" : "\n");
    }
  }
  CHECK(text == "drops calls launch_scale typed\n");
}

TEST_CASE("typed: a dtype by another name is a case of a switch") {
  const std::string source =
      "#include <torch/library.h>\n"
      "namespace lib {\n"
      "constexpr auto low = at::ScalarType::Half;\n"
      "at::Tensor run(const at::Tensor& x, int n) { return x; }\n"
      "at::Tensor scale(const at::Tensor& x) {\n"
      "  switch (x.scalar_type()) {\n"
      "    case at::ScalarType::Float: return run(x, 1);\n"
      "    case low: return run(x, 2);\n"
      "    default: TORCH_CHECK(false, \"no\");\n  }\n  return x;\n}\n"
      "}\n"
      "TORCH_LIBRARY(lib, m) { m.def(\"scale(Tensor x) -> Tensor\"); }\n"
      "TORCH_LIBRARY_IMPL(lib, CPU, m) { m.impl(\"scale\", lib::scale); }\n";
  const auto dtypes = [](const Facts& facts) {
    std::string text;
    for (const Fact op : manifest_of(facts, "torch")[Key::operators].items()) {
      for (const Fact kernel : op[Key::kernels].items()) {
        for (const Fact site : kernel[Key::dispatches].items()) {
          for (const Fact dtype : site[Key::dtypes].items())
            text += std::string(dtype.text()) + ' ';
          text += site[Key::tier].is("typed")   ? "typed"
                  : site[Key::dtypes].is_list() ? ""
                                                : "unknown";
        }
      }
    }
    return text;
  };
  // The text alone knows that there is another one.
  SourceFolder folder;
  folder.place.path = "project";
  folder.files.emplace_back();
  folder.files.back().path = "csrc/ops.cpp";
  folder.files.back().bytes = source;
  folder.files.back().size = source.size();
  CHECK(dtypes(load_sources(folder, 1)) == "unknown");
  const std::optional<Facts> facts = read_with_types({{"csrc/ops.cpp", source}});
  if (facts) CHECK(dtypes(*facts) == "f16 f32 typed");
}

}  // namespace opseal::test
