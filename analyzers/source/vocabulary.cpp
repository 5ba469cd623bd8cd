#include "analyzers/source/vocabulary.h"

#include <algorithm>
#include <iterator>

namespace opseal {
namespace {

using enum WordUse;

// Macros that take the name of a namespace as it is written have a form that expands it first; a
// project defines such forms for itself, ending in the plain one.
constexpr VocabularyWord words[] = {
    // torch/library.h, and its stable form for extensions.
    {.text = "TORCH_LIBRARY"},
    {.text = "TORCH_LIBRARY_FRAGMENT"},
    {.text = "TORCH_LIBRARY_IMPL"},
    {.text = "TORCH_LIBRARY_THREAD_UNSAFE_LAZY_INIT"},
    {.text = "STABLE_TORCH_LIBRARY"},
    {.text = "STABLE_TORCH_LIBRARY_FRAGMENT"},
    {.text = "STABLE_TORCH_LIBRARY_IMPL"},
    {.text = "TORCH_LIBRARY_", .is_prefix = true, .use = terminal_unless_defined},
    {.text = "STABLE_TORCH_LIBRARY_", .is_prefix = true, .use = terminal_unless_defined},
    {.text = "RegisterOperators"},
    {.text = "TorchLibraryInit", .use = seed},
    // xla/ffi/api/ffi.h
    {.text = "XLA_FFI_DEFINE_HANDLER", .is_prefix = true},
    {.text = "XLA_FFI_REGISTER_HANDLER"},
    {.text = "XLA_FFI_REGISTER_", .is_prefix = true},
    {.text = "XLA_FFI_DECLARE_HANDLER", .is_prefix = true},
    // jaxlib/ffi_helpers.h and kernel_pybind11_helpers.h: EncapsulateFunction,
    // EncapsulateFfiHandler.
    {.text = "Encapsulate", .is_prefix = true},
    // `nanobind::capsule`, where a module makes them itself.
    {.text = "capsule"},
    // brainevent's bridge, in the functions that its macros make.
    {.text = "BE", .use = seed},
    // onnxruntime/core/framework/op_kernel.h, custom operators' macros included.
    {.text = "ONNX_OPERATOR_", .is_prefix = true},
    // onnxruntime_lite_custom_op.h
    {.text = "CreateLiteCustomOp"},
    {.text = "CreateLiteCustomOpV2"},
    // tensorflow/core/framework/op.h and op_kernel.h
    {.text = "REGISTER_OP"},
    {.text = "REGISTER_KERNEL_BUILDER"},
    {.text = "REGISTER_SYSTEM_KERNEL_BUILDER"},
    // paddle/phi/core/kernel_registry.h, custom_kernel.h and paddle/phi/capi
    {.text = "PD_REGISTER_KERNEL"},
    {.text = "PD_REGISTER_STRUCT_KERNEL"},
    {.text = "PD_REGISTER_PLUGIN_KERNEL"},
    {.text = "PD_CUSTOM_KERNEL_REGISTER"},
    {.text = "PD_BUILD_PHI_KERNEL"},
    // executorch/extension/kernel_util/make_boxed_from_unboxed_functor.h
    {.text = "EXECUTORCH_LIBRARY"},
    {.text = "EXECUTORCH_SELECTIVE_LIBRARY"},
    // tvm/ffi/reflection/registry.h and its forerunners.
    {.text = "GlobalDef"},
    {.text = "TVM_REGISTER_GLOBAL"},
    {.text = "TVM_FFI_REGISTER_GLOBAL"},
    {.text = "TVM_FFI_DLL_EXPORT_TYPED_FUNC"},
    {.text = "PYBIND11_MODULE"},
    {.text = "PYBIND11_EMBEDDED_MODULE"},
    {.text = "NB_MODULE"},
};

constexpr std::string_view members[] = {"def", "def_static", "impl",      "impl_abstract_pystub",
                                        "op",  "class_",     "fallback",  "set_python_module",
                                        "To",  "def_packed", "def_method"};

// Those of XLA's bindings are read as a chain.
constexpr std::string_view seed_members[] = {
    "def", "impl", "op", "Arg", "Ret", "Ctx", "Attr", "RemainingArgs", "RemainingRets", "To"};

constexpr std::string_view needles[] = {"TORCH_LIBRARY",      "TorchLibraryInit",
                                        "RegisterOperators",  "XLA_FFI_",
                                        "Encapsulate",        "ONNX_OPERATOR_",
                                        "REGISTER_OP",        "REGISTER_KERNEL",
                                        "PYBIND11_",          "NB_MODULE",
                                        "EXECUTORCH_",        "Library&",
                                        "Library &",          "@BE",
                                        "GlobalDef(",         "_REGISTER_GLOBAL(",
                                        "TVM_FFI_DLL_EXPORT", "::module",
                                        "ONNX_CPU_",          "PD_REGISTER_",
                                        "PD_CUSTOM_KERNEL",   "PD_BUILD_PHI",
                                        "register_kernels(",  "register_kernel(",
                                        "CreateLiteCustomOp"};

// tensorflow/core/framework/register_types.h calls its argument once for each type; torch's macros
// give back what they are given; ONNX Runtime has short forms for its CPU.
constexpr std::string_view prelude = R"(
#define TF_CALL_float(m) m(float)
#define TF_CALL_double(m) m(double)
#define TF_CALL_half(m) m(Eigen::half)
#define TF_CALL_bfloat16(m) m(bfloat16)
#define TF_CALL_int64(m) m(int64_t)
#define TF_CALL_int32(m) m(int32)
#define TF_CALL_int16(m) m(int16)
#define TF_CALL_int8(m) m(int8)
#define TF_CALL_uint8(m) m(uint8)
#define TF_CALL_uint16(m) m(uint16)
#define TF_CALL_uint32(m) m(uint32)
#define TF_CALL_uint64(m) m(uint64)
#define TF_CALL_bool(m) m(bool)
#define TF_CALL_tstring(m) m(tstring)
#define TF_CALL_string(m) m(tstring)
#define TF_CALL_resource(m) m(ResourceHandle)
#define TF_CALL_variant(m) m(Variant)
#define TF_CALL_complex64(m) m(complex64)
#define TF_CALL_complex128(m) m(complex128)
#define TF_CALL_INTEGRAL_TYPES_NO_INT32(m) \
  TF_CALL_uint64(m) TF_CALL_int64(m) TF_CALL_uint32(m) TF_CALL_uint16(m) TF_CALL_int16(m) \
  TF_CALL_uint8(m) TF_CALL_int8(m)
#define TF_CALL_INTEGRAL_TYPES(m) TF_CALL_INTEGRAL_TYPES_NO_INT32(m) TF_CALL_int32(m)
#define TF_CALL_FLOAT_TYPES(m) TF_CALL_half(m) TF_CALL_bfloat16(m) TF_CALL_float(m) TF_CALL_double(m)
#define TF_CALL_REAL_NUMBER_TYPES(m) TF_CALL_INTEGRAL_TYPES(m) TF_CALL_FLOAT_TYPES(m)
#define TF_CALL_REAL_NUMBER_TYPES_NO_INT32(m) TF_CALL_INTEGRAL_TYPES_NO_INT32(m) TF_CALL_FLOAT_TYPES(m)
#define TF_CALL_COMPLEX_TYPES(m) TF_CALL_complex64(m) TF_CALL_complex128(m)
#define TF_CALL_NUMBER_TYPES(m) TF_CALL_REAL_NUMBER_TYPES(m) TF_CALL_COMPLEX_TYPES(m)
#define TF_CALL_NUMBER_TYPES_NO_INT32(m) \
  TF_CALL_REAL_NUMBER_TYPES_NO_INT32(m) TF_CALL_COMPLEX_TYPES(m)
#define TF_CALL_POD_TYPES(m) TF_CALL_NUMBER_TYPES(m) TF_CALL_bool(m)
#define TF_CALL_POD_STRING_TYPES(m) TF_CALL_POD_TYPES(m) TF_CALL_tstring(m)
#define TF_CALL_ALL_TYPES(m) TF_CALL_POD_STRING_TYPES(m) TF_CALL_resource(m) TF_CALL_variant(m)
#define TF_CALL_GPU_NUMBER_TYPES(m) TF_CALL_half(m) TF_CALL_bfloat16(m) TF_CALL_float(m) TF_CALL_double(m)
#define TF_CALL_GPU_NUMBER_TYPES_NO_HALF(m) TF_CALL_float(m) TF_CALL_double(m)
#define ONNX_CPU_OPERATOR_KERNEL(name, since, builder, ...) \
  ONNX_OPERATOR_KERNEL_EX(name, kOnnxDomain, since, kCpuExecutionProvider, builder, __VA_ARGS__)
#define ONNX_CPU_OPERATOR_ML_KERNEL(name, since, builder, ...) \
  ONNX_OPERATOR_KERNEL_EX(name, kMLDomain, since, kCpuExecutionProvider, builder, __VA_ARGS__)
#define ONNX_CPU_OPERATOR_MS_KERNEL(name, since, builder, ...) \
  ONNX_OPERATOR_KERNEL_EX(name, kMSDomain, since, kCpuExecutionProvider, builder, __VA_ARGS__)
#define ONNX_CPU_OPERATOR_VERSIONED_KERNEL(name, since, until, builder, ...) \
  ONNX_OPERATOR_VERSIONED_KERNEL_EX(name, kOnnxDomain, since, until, kCpuExecutionProvider, \
                                    builder, __VA_ARGS__)
#define ONNX_CPU_OPERATOR_VERSIONED_ML_KERNEL(name, since, until, builder, ...) \
  ONNX_OPERATOR_VERSIONED_KERNEL_EX(name, kMLDomain, since, until, kCpuExecutionProvider, builder, \
                                    __VA_ARGS__)
#define ONNX_CPU_OPERATOR_TYPED_KERNEL(name, since, type, builder, ...) \
  ONNX_OPERATOR_TYPED_KERNEL_EX(name, kOnnxDomain, since, type, kCpuExecutionProvider, builder, \
                                __VA_ARGS__)
#define ONNX_CPU_OPERATOR_TYPED_ML_KERNEL(name, since, type, builder, ...) \
  ONNX_OPERATOR_TYPED_KERNEL_EX(name, kMLDomain, since, type, kCpuExecutionProvider, builder, \
                                __VA_ARGS__)
#define ONNX_CPU_OPERATOR_TYPED_MS_KERNEL(name, since, type, builder, ...) \
  ONNX_OPERATOR_TYPED_KERNEL_EX(name, kMSDomain, since, type, kCpuExecutionProvider, builder, \
                                __VA_ARGS__)
#define ONNX_CPU_OPERATOR_VERSIONED_TYPED_KERNEL(name, since, until, type, builder, ...) \
  ONNX_OPERATOR_VERSIONED_TYPED_KERNEL_EX(name, kOnnxDomain, since, until, type, \
                                          kCpuExecutionProvider, builder, __VA_ARGS__)
#define ONNX_CPU_OPERATOR_VERSIONED_TYPED_ML_KERNEL(name, since, until, type, builder, ...) \
  ONNX_OPERATOR_VERSIONED_TYPED_KERNEL_EX(name, kMLDomain, since, until, type, \
                                          kCpuExecutionProvider, builder, __VA_ARGS__)
#define ONNX_CPU_OPERATOR_VERSIONED_TYPED_MS_KERNEL(name, since, until, type, builder, ...) \
  ONNX_OPERATOR_VERSIONED_TYPED_KERNEL_EX(name, kMSDomain, since, until, type, \
                                          kCpuExecutionProvider, builder, __VA_ARGS__)
#define TORCH_SELECTIVE_NAME(n) n
#define TORCH_SELECTIVE_SCHEMA(n) n
)";

constexpr std::string_view comment_marks[] = {"opseal:", "@BE"};

constexpr Vocabulary registrations{words, members, seed_members, needles, prelude, comment_marks};

}  // namespace

// Of several words that fit, the one that is the whole name.
const VocabularyWord* Vocabulary::find(std::string_view name) const {
  const VocabularyWord* found = nullptr;
  for (const VocabularyWord& word : words) {
    if (name.empty() || word.text[0] != name[0] || !name.starts_with(word.text)) continue;
    if (name.size() == word.text.size()) return &word;
    if (word.is_prefix && found == nullptr) found = &word;
  }
  return found;
}

const Vocabulary& registration_vocabulary() { return registrations; }

}  // namespace opseal
