// Two releases of a project, given as sources and as dumps of them.

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>

#include "cli/audit.h"
#include "cli/commands.h"
#include "tests/support.h"
#include "tests/tree.h"

namespace opseal::test {
namespace {

std::string dump_of(const std::string& path) {
  Options options;
  options.paths = {path};
  options.no_config = true;
  options.no_ignore = true;
  std::ostringstream out;
  write_dump(read_inputs(options).facts, out);
  return out.str();
}

std::set<std::string> changes_of(const std::string& before, const std::string& after) {
  std::set<std::string> out;
  for (const Change& change : diff_paths(before, after).changes.list) {
    out.insert(std::string(to_text(change.impact)) + ' ' + change.subject + ": " + change.message);
  }
  return out;
}

// Of one file in two releases. Their dumps have to say the same.
std::set<std::string> changes_in(const std::string& path, const std::string& before,
                                 const std::string& after) {
  const Tree tree;
  tree.add("old/" + path, before);
  tree.add("new/" + path, after);
  tree.add("old.json", dump_of("old"));
  tree.add("new.json", dump_of("new"));
  const std::set<std::string> changes = changes_of("old", "new");
  CHECK(changes_of("old.json", "new.json") == changes);
  CHECK(changes_of("old", "new.json") == changes);
  return changes;
}

using Lines = std::set<std::string>;

bool tells_of_cases(const Lines& changes) {
  return std::any_of(changes.begin(), changes.end(), [](const std::string& change) {
    return change.find("case for") != std::string::npos;
  });
}

std::string kernel_of(const std::string& parameters, const std::string& macro) {
  return "Tensor norm(" + parameters + ") {\n  " + macro +
         "(x.scalar_type(), \"norm\", [&] { run<scalar_t>(x); });\n  return x;\n}\n";
}

constexpr const char* plain_schema =
    "TORCH_LIBRARY(demo, m) {\n  m.def(\"norm(Tensor x) -> Tensor\");\n"
    "  m.impl(\"norm\", torch::kCPU, &norm);\n}\n";

}  // namespace

TEST_CASE("a dtype for which the code has no case any more is lost") {
  const std::string wide = kernel_of("const Tensor& x", "AT_DISPATCH_FLOATING_TYPES_AND_HALF");
  const std::string narrow = kernel_of("const Tensor& x", "AT_DISPATCH_FLOATING_TYPES");
  CHECK(changes_in("ops.cpp", wide + plain_schema, narrow + plain_schema) ==
        Lines{"breaking demo::norm: kernel `CPU` has no case for `f16` any more where it asks "
              "`x.scalar_type()`"});
  CHECK(changes_in("ops.cpp", narrow + plain_schema, wide + plain_schema) ==
        Lines{"additive demo::norm: kernel `CPU` has a case for `f16` where it asks "
              "`x.scalar_type()`, before none"});
  // The same cases, parted by what else is asked; and code that asks in other words.
  const std::string parted =
      "Tensor norm(const Tensor& x) {\n"
      "  if (x.is_contiguous()) {\n"
      "    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), \"norm\", [&] { run<scalar_t>(x); });\n"
      "  } else {\n"
      "    AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), \"norm\", [&] { slow(x); });\n"
      "  }\n  return x;\n}\n";
  CHECK_FALSE(tells_of_cases(changes_in("ops.cpp", wide + plain_schema, parted + plain_schema)));
  const std::string renamed =
      "Tensor norm(const Tensor& input) {\n"
      "  AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), \"norm\", [&] { f<scalar_t>(); });\n"
      "  return input;\n}\n";
  CHECK_FALSE(tells_of_cases(changes_in("ops.cpp", wide + plain_schema, renamed + plain_schema)));
}

TEST_CASE("an argument with a default breaks nobody, whatever the kernel's C++ is") {
  const std::string schema =
      "TORCH_LIBRARY(demo, m) {\n  m.def(\"norm(Tensor x, float eps=1e-5) -> Tensor\");\n"
      "  m.impl(\"norm\", torch::kCPU, &norm);\n}\n";
  const std::string one = "Tensor norm(const Tensor& x) { return x; }\n";
  const std::string two = "Tensor norm(const Tensor& x, double eps) { return x; }\n";
  const Lines changes = changes_in("ops.cpp", one + plain_schema, two + schema);
  CHECK(changes.contains("additive demo::norm: new argument `eps` with the default `1e-5`"));
  for (const std::string& change : changes) CHECK_FALSE(change.starts_with("breaking"));
}

TEST_CASE("lost rows and type constraints of TensorFlow and ONNX Runtime are told") {
  const auto tensorflow = [](const std::string& types) {
    std::string text =
        "REGISTER_OP(\"Demo\").Input(\"x: T\").Output(\"y: T\").Attr(\"T: type\");\n";
    std::istringstream words(types);
    for (std::string word; words >> word;) {
      text += "REGISTER_KERNEL_BUILDER(Name(\"Demo\").Device(DEVICE_CPU).TypeConstraint<" + word +
              ">(\"T\"), DemoOp);\n";
    }
    return text;
  };
  const Lines lost{"breaking tensorflow::Demo: kernel `CPU` lost `T: f64`"};
  CHECK(changes_in("ops.cc", tensorflow("float double"), tensorflow("float")) == lost);
  CHECK(changes_in("ops.cc", tensorflow("float double Eigen::half"),
                   tensorflow("float Eigen::half")) == lost);
  const auto onnx = [](const std::string& types) {
    return "ONNX_OPERATOR_KERNEL_EX(Demo, kMSDomain, 1, kCpuExecutionProvider, "
           "(*KernelDefBuilder::Create()).TypeConstraint(\"T\", {" +
           types + "}), Demo);\n";
  };
  const std::string single = "DataTypeImpl::GetTensorType<float>()";
  CHECK(changes_in("ops.cc", onnx(single + ", DataTypeImpl::GetTensorType<double>()"),
                   onnx(single)) ==
        Lines{"breaking com.microsoft::Demo: kernel `CPUExecutionProvider` lost `T: f64`"});
}

TEST_CASE("a word of two meanings is no other spelling of one that stands beside it") {
  const auto dtypes = [](const std::string& list) {
    return R"({"opseal_manifest": 1, "operators": [{"name": "mv", "kernels": [{"platform": "cpu",
              "dtypes": [)" +
           list + "]}]}]}";
  };
  const auto lost = [&](const std::string& before, const std::string& after) {
    const Tree tree;
    tree.add("before.json", dtypes(before));
    tree.add("after.json", dtypes(after));
    return changes_of("before.json", "after.json");
  };
  CHECK(lost(R"("float", "double")", R"("float")").size() == 1);
  CHECK(lost(R"("float", "double")", R"("double")").size() == 1);
  CHECK(lost(R"("float")", R"("f32")").empty());
  CHECK(lost(R"("f64")", R"("float")").empty());
  CHECK(lost(R"("float", "f32", "f64")", R"("f32", "f64")").empty());
}

TEST_CASE("one platform under another name is no other target") {
  const auto target = [](const std::string& platform) {
    return "import jax\njax.ffi.register_ffi_target(\"demo_add\", f.add, platform=\"" + platform +
           "\")\n";
  };
  CHECK(changes_in("ops.py", target("CUDA"), target("gpu")) ==
        Lines{"additive demo_add: registered for `gpu`, before for `CUDA`: one platform under "
              "another name"});
  CHECK(changes_in("ops.py", target("CUDA"), target("cpu")).size() == 2);
  CHECK(changes_in("ops.py", target("CUDA") + target("ROCM").substr(11), target("gpu")).size() ==
        2);
}

TEST_CASE("what a side leaves unsaid is no change") {
  // Only one of the two says what the kernel takes.
  const std::string open =
      "Tensor norm(const Tensor& x) {\n"
      "  AT_DISPATCH_SWITCH(x.scalar_type(), \"norm\", OUR_CASES);\n  return x;\n}\n";
  CHECK_FALSE(tells_of_cases(changes_in(
      "ops.cpp", kernel_of("const Tensor& x", "AT_DISPATCH_FLOATING_TYPES") + plain_schema,
      open + plain_schema)));
}

TEST_CASE("functions that a module of C++ doesn't give Python any more are lost") {
  const auto module = [](const std::string& body) {
    return "PYBIND11_MODULE(_ext, m) {\n" + body + "}\n";
  };
  const std::string add = "  m.def(\"add\", [](int a, int b) { return a + b; }, py::arg(\"a\"), ";
  const std::string two = add + "py::arg(\"b\"));\n";
  const std::string neg = "  m.def(\"neg\", [](int a) { return -a; });\n";
  CHECK(changes_in("csrc/ext.cpp", module(two + neg), module(two)) ==
        Lines{"breaking _ext.neg: not bound any more"});
  CHECK(changes_in("csrc/ext.cpp", module(two), module(two + neg)) ==
        Lines{"additive _ext.neg: newly bound"});
  CHECK(changes_in("csrc/ext.cpp", module(two), module(add + "py::arg(\"by\"));\n")) ==
        Lines{"breaking _ext.add: takes no `b` by name any more"});
  CHECK(changes_in("csrc/ext.cpp", module(two), module(add + "py::arg(\"b\") = 1);\n")) ==
        Lines{"additive _ext.add: takes 1 required argument, before 2"});
  const auto choosing = [&](const std::string& macro) {
    return kernel_of("Tensor x", macro) +
           module("  m.def(\"norm_forward\", &norm);\n  m.def(\"norm_backward\", &norm);\n");
  };
  CHECK(changes_in("csrc/ext.cpp", choosing("AT_DISPATCH_FLOATING_TYPES_AND_HALF"),
                   choosing("AT_DISPATCH_FLOATING_TYPES"))
            .contains("breaking _ext.norm_forward: it has no case for `f16` any more where it asks "
                      "`x.scalar_type()`"));
  // Kernels of Triton are launched by the project alone.
  const std::string triton =
      "import triton\n@triton.jit\ndef scale(x_ptr, n):\n    pass\n\n\ndef run(x, n):\n"
      "    scale[(1,)](x, n)\n";
  CHECK(changes_in("pkg/kernels.py", triton, "import triton\n") == Lines{});
  // What a macro of others binds isn't seen.
  CHECK(changes_in("csrc/ext.cpp", module(two + neg), module(two + "  BIND_THE_REST(m);\n")) ==
        Lines{});
  // Another package takes the same module.
  const std::string built = "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {\n" + two + "}\n";
  CHECK(changes_in("csrc/ext.cpp", module(two), built).size() == 2);
}

}  // namespace opseal::test
