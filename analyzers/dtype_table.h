// Words for dtypes, by system.
//
// Where the words come from:
//   NumPy, JAX   names and one-letter codes of the NumPy reference; ml_dtypes for what NumPy lacks
//   torch        `c10::ScalarType` enumerators (also ExecuTorch's) and the `torch.` attributes
//   ONNX         `TensorProto.DataType`, and the type strings of its operator documents
//   TensorFlow   `DataType` in types.proto, with and without `DT_`; TFLite `TfLiteType`
//   TensorRT     `nvinfer1::DataType`; CUDA `cudaDataType_t` and the header's type names
//   ggml         type names of `ggml_get_type_traits`, enumerators of `ggml_type`, and those of the
//                fork ik_llama.cpp
//   XLA, MLIR    `PrimitiveType` in lower case; builtin types and StableHLO's floats
//   FKC          the dtype words of fuel's kernel contracts, reserved ones included, and its ggml
//                words without `_`
//   Triton, Metal, CUTLASS, C   the languages' own type names
// A word that is in doubt is in the table: an entry too many lets a slip pass, one too few accuses.

#pragma once

#include "opseal/dtypes.h"

namespace opseal {

// Spellings are compared after `fold`, so that one entry stands for `Float8_e4m3fn`,
// `float8_e4m3fn`, `FLOAT8E4M3FN` and `f8E4M3FN` only where those letters agree.
inline constexpr Dtype dtype_table[] = {
    // `float` is 32 bits in C, torch and ONNX and 64 in NumPy and Python; `int` and `long` likewise
    // depend on system and platform.
    {"float", DtypeKind::floating, 0, "float", "f32", "f64"},
    {"int", DtypeKind::signed_integer, 0, "int", "i32", "i64"},
    {"long", DtypeKind::signed_integer, 0, "long", "i64", "i32"},
    {"uint", DtypeKind::unsigned_integer, 0, "uint unsigned", "u32", "u64"},
    {"ulong", DtypeKind::unsigned_integer, 0, "ulong", "u64", "u32"},
    {"complex", DtypeKind::complex, 0, "complex", "c64", "c128"},
    // AMD's short words, and those of contracts that leave the split open.
    {"f8", DtypeKind::floating, 8, "f8 fp8 float8", "f8_e4m3fn", "f8_e4m3"},

    {"bool", DtypeKind::boolean, 1, "bool boolean pred b1 i1 int1 u1 uint1 bool8 bool_ kBool"},

    {"i2", DtypeKind::signed_integer, 2, "i2 int2 s2 si2"},
    {"i4", DtypeKind::signed_integer, 4, "i4 int4 s4 si4"},
    {"i8", DtypeKind::signed_integer, 8,
     "i8 int8 s8 si8 byte_t char schar signed_char kChar kChar8 i8_t"},
    {"i16", DtypeKind::signed_integer, 16, "i16 int16 s16 si16 short kShort"},
    {"i32", DtypeKind::signed_integer, 32, "i32 int32 s32 si32 Int kInt intc"},
    {"i64", DtypeKind::signed_integer, 64,
     "i64 int64 s64 si64 Long kLong longlong intp ssize_t ptrdiff_t"},
    {"i128", DtypeKind::signed_integer, 128, "i128 int128 __int128"},
    {"u2", DtypeKind::unsigned_integer, 2, "u2 uint2 ui2"},
    {"u4", DtypeKind::unsigned_integer, 4, "u4 uint4 ui4"},
    {"u8", DtypeKind::unsigned_integer, 8, "u8 uint8 ui8 byte ubyte uchar unsigned_char kByte"},
    {"u16", DtypeKind::unsigned_integer, 16, "u16 uint16 ui16 ushort unsigned_short"},
    {"u32", DtypeKind::unsigned_integer, 32, "u32 uint32 ui32 unsigned_int uintc"},
    {"u64", DtypeKind::unsigned_integer, 64,
     "u64 uint64 ui64 ulonglong unsigned_long size_t uintp usize"},
    {"isize", DtypeKind::signed_integer, 0, "isize index", "i64", "i32"},

    // CUDA's pairs.
    {"f16x2", DtypeKind::opaque, 32, "half2 __half2"},
    {"bf16x2", DtypeKind::opaque, 32, "bfloat162 __nv_bfloat162 nv_bfloat162"},

    {"f16", DtypeKind::floating, 16,
     "f16 float16 fp16 half __half half_t kHalf Float16 _Float16 CUDA_R_16F"},
    {"bf16", DtypeKind::floating, 16,
     "bf16 bfloat16 bfloat bfloat16_t __nv_bfloat16 nv_bfloat16 hip_bfloat16 CUDA_R_16BF "
     "brain_float16"},
    {"tf32", DtypeKind::floating, 32, "tf32 tfloat32 tensorfloat32 fp32r"},
    {"f32", DtypeKind::floating, 32, "f32 float32 fp32 single kFloat Float FLOAT CUDA_R_32F"},
    {"f64", DtypeKind::floating, 64, "f64 float64 fp64 double float_ kDouble CUDA_R_64F"},
    {"f80", DtypeKind::floating, 80, "f80 float80 float96 longdouble long_double"},
    {"f128", DtypeKind::floating, 128, "f128 float128 fp128 quad __float128"},
    // ml_dtypes, torch, ONNX, StableHLO, FKC; the e4m3 of CUDA has no infinities, so it is `fn`.
    {"f8_e3m4", DtypeKind::floating, 8, "f8e3m4 float8_e3m4 fp8e3m4 e3m4"},
    {"f8_e4m3", DtypeKind::floating, 8, "f8e4m3 float8_e4m3 fp8_e4m3 e4m3 fp8e4", "f8_e4m3",
     "f8_e4m3fn"},
    {"f8_e4m3fn", DtypeKind::floating, 8,
     "f8e4m3fn float8_e4m3fn fp8e4m3fn e4m3fn fp8e4nv float8e4nv __nv_fp8_e4m3 float_e4m3_t "
     "CUDA_R_8F_E4M3 nv_fp8_e4m3 DataType_kFP8"},
    {"f8_e4m3fnuz", DtypeKind::floating, 8,
     "f8e4m3fnuz float8_e4m3fnuz fp8e4m3fnuz e4m3fnuz fp8e4b8 float8e4b8"},
    {"f8_e4m3b11fnuz", DtypeKind::floating, 8,
     "f8e4m3b11fnuz float8_e4m3b11fnuz float8_e4m3b11 fp8e4b15 float8e4b15 fp8e4b15x4 e4m3b11fnuz"},
    {"f8_e5m2", DtypeKind::floating, 8,
     "f8e5m2 float8_e5m2 fp8e5m2 e5m2 fp8e5 float8e5 bf8 __nv_fp8_e5m2 float_e5m2_t "
     "CUDA_R_8F_E5M2 nv_fp8_e5m2"},
    {"f8_e5m2fnuz", DtypeKind::floating, 8,
     "f8e5m2fnuz float8_e5m2fnuz fp8e5m2fnuz e5m2fnuz fp8e5b16 float8e5b16"},
    {"f8_e6m2", DtypeKind::floating, 8, "f8e6m2 float8_e6m2"},
    {"f8_e8m0fnu", DtypeKind::floating, 8,
     "f8e8m0fnu float8_e8m0fnu float8_e8m0 f8e8m0 e8m0 e8m0fnu ue8m0 CUDA_R_8F_UE8M0 "
     "__nv_fp8_e8m0 fp8e8m0"},
    {"f6_e2m3fn", DtypeKind::floating, 6,
     "f6e2m3fn float6_e2m3fn float6_e2m3 f6e2m3 e2m3 fp6_e2m3 e2m3fn"},
    {"f6_e3m2fn", DtypeKind::floating, 6,
     "f6e3m2fn float6_e3m2fn float6_e3m2 f6e3m2 e3m2 fp6_e3m2 e3m2fn"},
    {"f4_e2m1fn", DtypeKind::floating, 4,
     "f4e2m1fn float4_e2m1fn float4_e2m1 f4e2m1 e2m1 fp4_e2m1 fp4 f4 float4 e2m1fn "
     "float4_e2m1fn_x2 CUDA_R_4F_E2M1"},

    {"c32", DtypeKind::complex, 32, "c32 complex32 chalf ComplexHalf"},
    {"c64", DtypeKind::complex, 64,
     "c64 complex64 cfloat ComplexFloat csingle cuComplex CUDA_C_32F"},
    {"c128", DtypeKind::complex, 128,
     "c128 complex128 cdouble ComplexDouble complex_ cuDoubleComplex CUDA_C_64F"},
    {"c256", DtypeKind::complex, 256, "complex256 complex192 clongdouble"},

    // torch and TensorFlow: an integer with a scale and a zero point beside it.
    {"qi8", DtypeKind::signed_integer, 8, "qint8 qi8 qs8"},
    {"qi16", DtypeKind::signed_integer, 16, "qint16 qi16"},
    {"qi32", DtypeKind::signed_integer, 32, "qint32 qi32"},
    {"qu8", DtypeKind::unsigned_integer, 8, "quint8 qui8 qu8"},
    {"qu16", DtypeKind::unsigned_integer, 16, "quint16"},
    {"qu4", DtypeKind::unsigned_integer, 4, "quint4x2 quint4"},
    {"qu2", DtypeKind::unsigned_integer, 2, "quint2x4 quint2"},
    {"bits8", DtypeKind::opaque, 8, "bits8 bits1x8 bits2x4 bits4x2"},
    {"bits16", DtypeKind::opaque, 16, "bits16"},

    // ggml. Bits are those of the quantised values; scales come on top.
    {"q1_0", DtypeKind::block, 1, "q1_0"},
    {"q4_0", DtypeKind::block, 4, "q4_0"},
    {"q4_1", DtypeKind::block, 4, "q4_1"},
    {"q4_2", DtypeKind::block, 4, "q4_2"},
    {"q4_3", DtypeKind::block, 4, "q4_3"},
    {"q5_0", DtypeKind::block, 5, "q5_0"},
    {"q5_1", DtypeKind::block, 5, "q5_1"},
    {"q6_0", DtypeKind::block, 6, "q6_0"},
    {"q8_0", DtypeKind::block, 8, "q8_0"},
    {"q8_1", DtypeKind::block, 8, "q8_1"},
    {"q2_k", DtypeKind::block, 2, "q2_K"},
    {"q3_k", DtypeKind::block, 3, "q3_K"},
    {"q4_k", DtypeKind::block, 4, "q4_K"},
    {"q5_k", DtypeKind::block, 5, "q5_K"},
    {"q6_k", DtypeKind::block, 6, "q6_K"},
    {"q8_k", DtypeKind::block, 8, "q8_K"},
    {"iq1_s", DtypeKind::block, 1, "iq1_s"},
    {"iq1_m", DtypeKind::block, 1, "iq1_m"},
    {"iq2_xxs", DtypeKind::block, 2, "iq2_xxs"},
    {"iq2_xs", DtypeKind::block, 2, "iq2_xs"},
    {"iq2_s", DtypeKind::block, 2, "iq2_s"},
    {"iq3_xxs", DtypeKind::block, 3, "iq3_xxs"},
    {"iq3_s", DtypeKind::block, 3, "iq3_s"},
    {"iq4_nl", DtypeKind::block, 4, "iq4_nl"},
    {"iq4_xs", DtypeKind::block, 4, "iq4_xs"},
    {"tq1_0", DtypeKind::block, 1, "tq1_0"},
    {"tq2_0", DtypeKind::block, 2, "tq2_0"},
    {"q4_0_4_4", DtypeKind::block, 4, "q4_0_4_4"},
    {"q4_0_4_8", DtypeKind::block, 4, "q4_0_4_8"},
    {"q4_0_8_8", DtypeKind::block, 4, "q4_0_8_8"},
    {"iq4_nl_4_4", DtypeKind::block, 4, "iq4_nl_4_4"},
    // OCP's and NVIDIA's block-scaled floats, QLoRA's NormalFloat, Tenstorrent's block floats.
    {"mxfp4", DtypeKind::block, 4, "mxfp4 mxfp4_e2m1"},
    {"mxfp6", DtypeKind::block, 6, "mxfp6 mxfp6_e2m3 mxfp6_e3m2"},
    {"mxfp8", DtypeKind::block, 8, "mxfp8 mxfp8_e4m3 mxfp8_e5m2"},
    {"mxint8", DtypeKind::block, 8, "mxint8"},
    {"nvfp4", DtypeKind::block, 4, "nvfp4"},
    {"nf4", DtypeKind::block, 4, "nf4"},
    {"bfp8", DtypeKind::block, 8, "bfloat8_b bfp8 bfp8_b bfloat8"},
    {"bfp4", DtypeKind::block, 4, "bfloat4_b bfp4 bfp4_b bfloat4"},

    // Tapered formats: Huawei's HiFloat8, posits.
    {"hif8", DtypeKind::block, 8, "hif8 hifloat8"},
    {"posit8", DtypeKind::block, 8, "posit8 posit8es1"},
    {"posit16", DtypeKind::block, 16, "posit16 posit16es1 posit16es2"},
    {"posit32", DtypeKind::block, 32, "posit32 posit32es2"},

    {"string", DtypeKind::opaque, 0, "string str bytes unicode"},
    {"object", DtypeKind::opaque, 0, "object pyobject"},
    {"datetime64", DtypeKind::opaque, 64, "datetime64"},
    {"timedelta64", DtypeKind::opaque, 64, "timedelta64"},
    // JAX's integer with a bound, the size of a dimension.
    {"bint", DtypeKind::opaque, 0, "bint"},
    // JAX's zero-size tangent dtype.
    {"float0", DtypeKind::opaque, 0, "float0"},
    {"token", DtypeKind::opaque, 0, "token"},
    {"opaque", DtypeKind::opaque, 0, "opaque opaque_type"},
    {"handle", DtypeKind::opaque, 64, "handle"},
    {"resource", DtypeKind::opaque, 0, "resource"},
    {"variant", DtypeKind::opaque, 0, "variant"},
    {"void", DtypeKind::opaque, 0, "void none"},
    // A slot that takes whatever comes, and enumerators for "not set".
    {"any", DtypeKind::opaque, 0, "any undefined invalid unspecified unknown notype"},
};

}  // namespace opseal
