// What sources say of operators of TensorFlow, and of functions with a backward of their own.

#include <doctest/doctest.h>

#include <chrono>
#include <string>

#include "opseal/registration.h"
#include "tests/source_folder.h"

namespace opseal::test {
namespace {

constexpr std::string_view definition =
    "REGISTER_OP(\"Demo>Bag\")\n"
    "    .Input(\"ids: Tids\").Input(\"parts: N * T\").Output(\"sum: T\")\n"
    "    .Attr(\"T: {half, float} = DT_FLOAT\").Attr(\"Tids: {int32, int64}\")\n"
    "    .Attr(\"N: int >= 1\").Attr(\"mode: {'sum', 'mean'}\")\n"
    "    .SetShapeFn([](InferenceContext* c) { return Status(); });\n";

constexpr std::string_view kernels =
    "#define REGISTER(T) \\\n"
    "  REGISTER_KERNEL_BUILDER(Name(\"Demo>Bag\").Device(DEVICE_CPU).TypeConstraint<T>(\"T\"), "
    "Bag<CPUDevice, T>);\n"
    "TF_CALL_half(REGISTER)\n"
    "REGISTER_KERNEL_BUILDER(Name(\"Demo>Bag\").Device(DEVICE_GPU).Label(\"fast\")"
    ".TypeConstraint(\"T\", DT_FLOAT).HostMemory(\"ids\"), Bag<GPUDevice, float>);\n"
    "REGISTER_KERNEL_BUILDER(Name(\"Demo>Bag\").Device(DEVICE_TPU).TypeConstraint<Odd>(\"T\"), "
    "Bag<Odd>);\n";

constexpr std::string_view autograd =
    "struct Scale : public torch::autograd::Function<Scale> {\n"
    "  static Tensor forward(AutogradContext* ctx, const Tensor& x, double by = 1.0) { f(x); }\n"
    "  static variable_list backward(AutogradContext* ctx, variable_list grads) {\n"
    "    if (done()) return {g<1, 2>(grads[0]), Tensor()};\n"
    "    return variable_list{grads[0]};\n"
    "  }\n"
    "};\n";

std::string types(const Fact& map, std::string_view variable) {
  std::string text;
  for (const std::string& type : texts_of(map.at(variable))) text += type + ' ';
  return text;
}

double seconds_for(const std::string& text) {
  const auto start = std::chrono::steady_clock::now();
  read_sources({{"slow.cpp", text}});
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

TEST_CASE("an operator of TensorFlow has the operands and types of its specification") {
  const Facts facts = read_sources({{"ops.cc", std::string(definition) + std::string(kernels)}});
  const Fact op = named(manifest_of(facts, "tensorflow")[Key::operators], "Demo>Bag");
  CHECK(op[Key::schema].is("Op<name=Demo>Bag; signature=ids:Tids, parts:N * T -> sum:T>"));
  REQUIRE(op[Key::inputs].size() == 2);
  CHECK_FALSE((*op[Key::inputs].items().begin())[Key::variadic].truth());
  CHECK(operand_count(op[Key::inputs])->max == CountRange::unbounded);
  CHECK(operand_count(op[Key::outputs])->max == 1);
  CHECK(types(op[Key::type_constraints], "T") == "half float ");
  CHECK(types(op[Key::type_constraints], "Tids") == "int32 int64 ");
  CHECK_FALSE(op[Key::type_constraints].at("mode").said());
  REQUIRE(op[Key::kernels].size() == 3);
  for (const Fact kernel : op[Key::kernels].items()) {
    const Fact map = kernel[Key::type_constraints];
    if (kernel[Key::platform].is("CPU")) {
      CHECK(types(map, "T") == "half ");
      CHECK(kernel[Key::function][Key::name].is("Bag<CPUDevice, Eigen::half>"));
    } else if (kernel[Key::platform].is("GPU")) {
      CHECK(types(map, "T") == "float ");
      CHECK(kernel[Key::backend].is("fast"));
    } else {
      CHECK(kernel[Key::platform].is("TPU"));
      CHECK_FALSE(map.said());
    }
  }
}

TEST_CASE("an operator that is said to have no gradient has none on purpose") {
  const Facts facts = read_sources({{"ops.cc", std::string(definition)},
                                    {"ops.py",
                                     "from tensorflow.python.framework import ops\n"
                                     "ops.NotDifferentiable('Demo>Bag')\n"}});
  const Fact op = named(manifest_of(facts, "tensorflow")[Key::operators], "Demo>Bag");
  CHECK(op[Key::gradient].is_null());
  CHECK(op[Key::differentiable].is_truth());
  CHECK_FALSE(op[Key::differentiable].truth());
}

TEST_CASE("each count that a backward hands back is said") {
  const Facts facts = read_sources({{"scale.cpp", std::string(autograd)}});
  const Fact operators = manifest_of(facts, "torch-autograd")[Key::operators];
  REQUIRE(operators.size() == 2);
  const Fact first = *operators.items().begin();
  CHECK(first[Key::name].is("Scale"));
  CHECK(operand_count(first[Key::inputs])->min == 1);
  CHECK(operand_count(first[Key::inputs])->max == 2);
  CHECK(first[Key::gradient][Key::returns].count() == 2);
}

TEST_CASE("sources of any system that are cut anywhere are read") {
  for (const std::string_view sample : {definition, kernels, autograd}) {
    for (std::size_t size = 0; size <= sample.size(); ++size) {
      read_sources({{"ops.cc", std::string(sample.substr(0, size))}});
      read_sources({{"ops.cc", std::string(sample.substr(size))}});
    }
  }
}

TEST_CASE("an operator of TensorFlow that has another name in another build is one operator") {
  const std::string names =
      "#if TF_RELEASE >= 2000\n#define NAMED(x) \"Demo>\" #x\n#else\n#define NAMED(x) #x\n#endif\n";
  const std::string builders =
      "REGISTER_KERNEL_BUILDER(Name(NAMED(Bag)).Device(DEVICE_CPU), Bag<float>);\n"
      "#ifdef FAST\n"
      "REGISTER_KERNEL_BUILDER(Name(NAMED(Bag)).Device(DEVICE_GPU), Bag<float>);\n#endif\n"
      "REGISTER_KERNEL_BUILDER(Name(\"Bag\").Device(DEVICE_TPU), Bag<float>);\n";
  const Facts facts = read_sources(
      {{"ops.cc",
        names + "REGISTER_OP(NAMED(Bag)).Input(\"x: float\").Output(\"y: float\");\n" + builders}});
  const Fact operators = manifest_of(facts, "tensorflow")[Key::operators];
  REQUIRE(operators.size() == 1);
  const Fact bag = *operators.items().begin();
  CHECK(bag[Key::name].is("Demo>Bag"));
  CHECK(bag[Key::schema].said());
  CHECK(!bag[Key::when].said());
  REQUIRE(bag[Key::kernels].size() == 3);
  std::string kernels_of;
  for (const Fact kernel : bag[Key::kernels].items()) {
    kernels_of += std::string(kernel[Key::platform].text()) + " " +
                  std::string(kernel[Key::when].said() ? kernel[Key::when].text() : "always") +
                  "; ";
  }
  CHECK(kernels_of == "CPU always; GPU defined(FAST); TPU always; ");

  // Where both are there at once, they are two.
  const Facts both =
      read_sources({{"ops.cc",
                     "#if A\n#define NAMED(x) \"Demo>\" #x\n#else\n#define NAMED(x) #x\n#endif\n"
                     "REGISTER_OP(NAMED(Bag)).Input(\"x: float\");\n"
                     "REGISTER_OP(\"Bag\").Input(\"x: float\").Input(\"w: float\");\n"}});
  CHECK(manifest_of(both, "tensorflow")[Key::operators].size() == 2);
}

TEST_CASE("classes and chains within each other are not slow") {
  CHECK(seconds_for(repeated("struct A : torch::autograd::Function<A> {", 100'000)) < 30);
  CHECK(seconds_for("struct A : torch::autograd::Function<A> { static T forward(AutogradContext* c)"
                    " {} static V backward(AutogradContext* c) {" +
                    repeated("return {", 100'000) + repeated("}", 100'000) + ";}};") < 30);
  CHECK(seconds_for(repeated("REGISTER_OP(\"x\").Input(", 50'000)) < 30);
}

}  // namespace opseal::test
