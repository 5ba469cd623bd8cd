#pragma once

#include <cstddef>
#include <cstdint>

// The C interface between XLA and a handler of its FFI, as far as a caller needs it: 64-bit, little
// endian. Measured on the headers of jaxlib 0.4.31 to 0.12 (API 0.0 to 0.5): fields never moved,
// new ones came behind. `size` is what the header calls `struct_size`: it counts up to the last
// field that was there first, so it can be less than `sizeof`, and says nothing about what may be
// read.
namespace opseal::ffi {

enum Stage : std::int32_t { instantiate, prepare, initialize, execute, record };

// Everything that a handler is passed by number. Values that its headers don't know must never be
// used: code that prints them falls off the end of a switch.
inline constexpr std::int32_t buffer_argument = 1;
inline constexpr std::int32_t no_argument = 0;
enum AttributeType : std::int32_t {
  array_attribute = 1,
  dictionary_attribute = 2,
  scalar_attribute = 3,
  string_attribute = 4,
};
inline constexpr std::int32_t metadata_extension = 1;
inline constexpr std::uint32_t trait_command_buffer = 1;

enum ErrorCode : std::int32_t {
  ok = 0,
  unknown = 2,
  invalid_argument = 3,
  not_found = 5,
  resource_exhausted = 8,
  failed_precondition = 9,
  unimplemented = 12,
};

struct Extension {
  std::size_t size;
  std::int32_t type;
  Extension* next;
};
struct Version {
  std::size_t size;
  Extension* extensions;
  std::int32_t major, minor;
};
struct ByteSpan {
  const char* bytes;
  std::size_t length;
};
struct Buffer {
  std::size_t size;
  Extension* extensions;
  std::int32_t dtype;
  void* data;
  std::int64_t rank;
  std::int64_t* dims;
};
struct Scalar {
  std::int32_t dtype;
  void* value;
};
struct Array {
  std::int32_t dtype;
  std::size_t elements;
  void* data;
};
// Arguments and results.
struct Operands {
  std::size_t size;
  Extension* extensions;
  std::int64_t count;
  std::int32_t* types;
  void** values;
};
// Sorted by the bytes of their names: they are looked up by place, or by bisection.
struct Attributes {
  std::size_t size;
  Extension* extensions;
  std::int64_t count;
  std::int32_t* types;
  ByteSpan** names;
  void** values;
};
struct Api;
struct Future;
// Ours: a handler only passes it back.
class Context;
struct Frame {
  std::size_t size;
  Extension* extensions;
  const Api* api;
  Context* context;
  std::int32_t stage;
  Operands arguments;
  Operands results;
  Attributes attributes;
  // Out; not counted in `size`.
  Future* future;
};
struct Metadata {
  std::size_t size;
  Version version;
  std::uint32_t traits;
  // Since jaxlib 0.8.0, and written whatever `size` says.
  std::int64_t state_type;
  // For what newer headers may write behind it.
  std::int64_t reserve[8];
};
struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};
struct Error;
using Handler = Error*(Frame*);
// Takes a struct whose first word is its size, and returns an error or null.
using Slot = void* (*)(void*);
struct Api {
  std::size_t size;
  Extension* extensions;
  Version version;
  const void* internal;
  Slot slots[48];
};

inline constexpr std::size_t frame_size = 168;
inline constexpr std::size_t metadata_size = 36;
inline constexpr std::size_t metadata_extension_size = 32;
inline constexpr std::size_t version_size = 24;
inline constexpr std::size_t buffer_size = 48;
inline constexpr std::size_t operands_size = 40;
inline constexpr std::size_t attributes_size = 48;
// With the slots up to API 0.4.
inline constexpr std::size_t api_size = 200;

static_assert(sizeof(Buffer) == buffer_size && sizeof(Operands) == operands_size);
static_assert(sizeof(Attributes) == attributes_size && sizeof(Frame) == frame_size + 8);
static_assert(offsetof(Frame, context) == 24 && offsetof(Frame, stage) == 32);
static_assert(offsetof(Frame, arguments) == 40 && offsetof(Frame, results) == 80);
static_assert(offsetof(Frame, attributes) == 120 && offsetof(Frame, future) == frame_size);
static_assert(offsetof(Metadata, version) == 8 && offsetof(Metadata, traits) == 32);
static_assert(offsetof(Metadata, state_type) == 40 && offsetof(MetadataExtension, metadata) == 24);
static_assert(offsetof(Api, internal) == 40 && offsetof(Api, slots) == 48);

// Dtypes by number. Bytes of an element; those below a byte take a whole one.
struct DtypeInfo {
  std::int32_t number;
  // As XLA's messages spell it, and as opseal does.
  const char* name;
  const char* word;
  std::uint32_t bytes;
  // First jaxlib whose headers print it; 0: all. As 100 * minor + patch of 0.minor.patch.
  std::int32_t since;
};
inline constexpr DtypeInfo dtypes[] = {
    {1, "PRED", "bool", 1, 0},
    {2, "S8", "i8", 1, 0},
    {3, "S16", "i16", 2, 0},
    {4, "S32", "i32", 4, 0},
    {5, "S64", "i64", 8, 0},
    {6, "U8", "u8", 1, 0},
    {7, "U16", "u16", 2, 0},
    {8, "U32", "u32", 4, 0},
    {9, "U64", "u64", 8, 0},
    {10, "F16", "f16", 2, 0},
    {11, "F32", "f32", 4, 0},
    {12, "F64", "f64", 8, 0},
    {15, "C64", "c64", 8, 0},
    {16, "BF16", "bf16", 2, 0},
    {17, "TOKEN", "token", 0, 0},
    {18, "C128", "c128", 16, 0},
    {19, "F8E5M2", "f8_e5m2", 1, 0},
    {20, "F8E4M3FN", "f8_e4m3fn", 1, 0},
    {21, "S4", "i4", 1, 600},
    {22, "U4", "u4", 1, 600},
    {23, "F8E4M3B11FNUZ", "f8_e4m3b11fnuz", 1, 0},
    {24, "F8E5M2FNUZ", "f8_e5m2fnuz", 1, 0},
    {25, "F8E4M3FNUZ", "f8_e4m3fnuz", 1, 0},
    {26, "S2", "i2", 1, 600},
    {27, "U2", "u2", 1, 600},
    {28, "F8E4M3", "f8_e4m3", 1, 435},
    {29, "F8E3M4", "f8_e3m4", 1, 435},
    {30, "S1", "i1", 1, 600},
    {31, "U1", "u1", 1, 600},
    {32, "F4E2M1FN", "f4_e2m1fn", 1, 500},
    {33, "F8E8M0FNU", "f8_e8m0fnu", 1, 500},
};
inline constexpr std::int32_t token_dtype = 17;

constexpr const DtypeInfo* find_dtype_number(std::int32_t number) {
  for (const DtypeInfo& dtype : dtypes) {
    if (dtype.number == number) return &dtype;
  }
  return nullptr;
}

}  // namespace opseal::ffi
