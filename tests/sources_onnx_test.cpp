// What sources say of kernels of ONNX Runtime.

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "analyzers/sources/load.h"
#include "opseal/registration.h"
#include "tests/source_folder.h"

namespace opseal::test {
namespace {

// `T: tensor(float)`, of each variable.
std::string constraints(const Fact& kernel) {
  if (!kernel[Key::type_constraints].said()) return "not said";
  std::string text;
  for (const EntryRange::Entry entry : kernel[Key::type_constraints].entries()) {
    text += std::string(entry.name.text()) + ':';
    for (const std::string& type : texts_of(entry.value)) text += ' ' + type;
    text += ';';
  }
  return text;
}

// Of `Op` on the CPU, restricted by a chain.
std::string constraints_by(const std::string& chain) {
  const Facts facts =
      read_sources({{"op.cc", "ONNX_OPERATOR_KERNEL_EX(Op, kMSDomain, 1, kCpuExecutionProvider, " +
                                  chain + ", Op<float, 2>);\n"}});
  const Fact op = named(manifest_of(facts, "onnxruntime")[Key::operators], "Op");
  REQUIRE(op[Key::kernels].size() == 1);
  return constraints(*op[Key::kernels].items().begin());
}

}  // namespace

TEST_CASE("a kernel of ONNX Runtime has the names of the live registry") {
  const Facts facts = read_sources(
      {{"core/op_kernel.h",
        "#define CPU_KERNEL(name, ver, builder, ...) \\\n"
        "  ONNX_OPERATOR_KERNEL_EX(name, kOnnxDomain, ver, kCpuExecutionProvider, builder, "
        "__VA_ARGS__)\n"},
       {"ops.cc",
        "#include \"core/op_kernel.h\"\n"
        "CPU_KERNEL(Shape, 13, KernelDefBuilder(), Shape);\n"
        "#ifdef USE_CUDA\n"
        "ONNX_OPERATOR_VERSIONED_TWO_TYPED_KERNEL_EX(Shape, onnxruntime::kOnnxDomain, 1, 12, "
        "float, MLFloat16, kCudaExecutionProvider, KernelDefBuilder(), Shape<float, MLFloat16>);\n"
        "#endif\n"}});
  const Fact manifest = manifest_of(facts, "onnxruntime");
  REQUIRE(manifest[Key::operators].size() == 1);
  const Fact op = named(manifest[Key::operators], "Shape");
  CHECK(op[Key::namespace_].is("ai.onnx"));
  REQUIRE(op[Key::kernels].size() == 2);
  const Fact cpu = *op[Key::kernels].items().begin();
  CHECK(cpu[Key::platform].is("CPUExecutionProvider"));
  CHECK(cpu[Key::macro].is("CPU_KERNEL"));
  CHECK(cpu[Key::versions][Key::since].count() == 13);
  CHECK(cpu[Key::versions][Key::until].is_null());
  CHECK_FALSE(cpu[Key::listed].said());
  for (const Fact kernel : op[Key::kernels].items()) {
    if (!kernel[Key::platform].is("CUDAExecutionProvider")) continue;
    CHECK(kernel[Key::versions][Key::until].count() == 12);
    CHECK(kernel[Key::function][Key::name].is("Shape<float, MLFloat16>"));
    CHECK(kernel[Key::when].is("defined(USE_CUDA)"));
  }
}

TEST_CASE("custom operators of functions and classes are kernels without a domain") {
  const Facts facts = read_sources(
      {{"ops.h",
        "#define CPU_FUNCTION(name, f) []() { return Wrap(ort::CreateLiteCustomOp(name, "
        "\"CPUExecutionProvider\", f)); }\n"
        "OrtLiteCustomOp* CreateLiteCustomOp(const char* op_name, const char* provider);\n"},
       {"ops.cc",
        "#include \"ops.h\"\n"
        "static Loader loader(CPU_FUNCTION(\"Blur\", gaussian_blur));\n"
        "static const std::unique_ptr<OrtLiteCustomOp> filter{Ort::Custom::CreateLiteCustomOp"
        "<Filter>(\"Filter\", \"CUDAExecutionProvider\", 15, 17)};\n"
        "void other(const char* name) { CreateLiteCustomOp(name, \"CPUExecutionProvider\", f); }"
        "\n"}});
  const Fact operators = manifest_of(facts, "onnxruntime")[Key::operators];
  REQUIRE(operators.size() == 2);
  const Fact blur = named(operators, "Blur");
  CHECK(!blur[Key::namespace_].said());
  const Fact kernel = *blur[Key::kernels].items().begin();
  CHECK(kernel[Key::platform].is("CPUExecutionProvider"));
  CHECK(kernel[Key::function][Key::name].is("gaussian_blur"));
  CHECK(kernel[Key::macro].is("CPU_FUNCTION"));
  CHECK(!kernel[Key::versions].said());
  const Fact filter = *named(operators, "Filter")[Key::kernels].items().begin();
  CHECK(filter[Key::function][Key::name].is("Filter"));
  CHECK(filter[Key::versions][Key::since].count() == 15);
  CHECK(filter[Key::versions][Key::until].count() == 17);
}

TEST_CASE("what a kernel restricts is said where all of it is known") {
  CHECK(constraints_by("KernelDefBuilder()") == "");
  CHECK(constraints_by("(*KernelDefBuilder::Create()).MayInplace(0, 0)"
                       ".TypeConstraint(\"T\", DataTypeImpl::GetTensorType<std::string>())") ==
        "T: tensor(string);");
  CHECK(constraints_by("KernelDefBuilder().TypeConstraint(\"T\", "
                       "BuildKernelDefConstraints<float, MLFloat16>()).TypeConstraint(\"I\", "
                       "std::vector<MLDataType>{DataTypeImpl::GetTensorType<int32_t>(), "
                       "DataTypeImpl::GetTensorType<int64_t>()})") ==
        "T: tensor(float) tensor(float16);I: tensor(int32) tensor(int64);");
  CHECK(constraints_by("KernelDefBuilder().TypeConstraint(\"T\", AllTypes())") == "not said");
  CHECK(constraints_by("KernelDefBuilder().TypeConstraint(\"T\", "
                       "DataTypeImpl::GetTensorType<Unknown>())") == "not said");
  CHECK(constraints_by("OtherBuilder()") == "not said");
}

TEST_CASE("a tree of which a part is missing says of no kernel that it isn't listed") {
  const Sources sources = {
      {"ops.cc",
       "ONNX_OPERATOR_KERNEL_EX(A, kMSDomain, 1, kCpuExecutionProvider, KernelDefBuilder(), A);\n"
       "ONNX_OPERATOR_KERNEL_EX(A, kMSDomain, 2, kCpuExecutionProvider, KernelDefBuilder(), A);\n"
       "auto row = BuildKernelCreateInfo<class ONNX_OPERATOR_KERNEL_CLASS_NAME("
       "kCpuExecutionProvider, kMSDomain, 1, A)>;\n"}};
  const auto unlisted = [&](bool partial) {
    const Facts facts = read_sources(sources, partial);
    int found = 0;
    const Fact op = named(manifest_of(facts, "onnxruntime")[Key::operators], "A");
    for (const Fact kernel : op[Key::kernels].items()) {
      if (!kernel[Key::listed].truth(true)) ++found;
    }
    return found;
  };
  CHECK(unlisted(false) == 1);
  CHECK(unlisted(true) == 0);
}

}  // namespace opseal::test
