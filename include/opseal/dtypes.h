#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace opseal {

enum class DtypeKind : std::uint8_t {
  boolean,
  signed_integer,
  unsigned_integer,
  floating,
  complex,
  // A block of quantised values with its scales, as in ggml: no value stands alone.
  block,
  // Text, object, handle, token: nothing that a kernel computes with.
  opaque,
};

// What one element of a tensor is.
struct Dtype {
  // opseal's own spelling: `f32`, `bf16`, `f8_e4m3fn`, `i4`, `u8`, `c64`, `bool`, `q4_k`.
  std::string_view name;
  DtypeKind kind = DtypeKind::opaque;
  // Of one element; 0 where that depends or makes no sense.
  std::uint16_t bits = 0;
  // Every system's words for it, parted by spaces.
  std::string_view spellings;
  // For a word that means one dtype here and another there (`int` is 32 bits in C and 64 in NumPy),
  // the two; else empty.
  std::string_view first = {};
  std::string_view second = {};
};

enum class DtypeReading : std::uint8_t {
  // Some system's word for one dtype.
  dtype,
  // Built from dtypes: `seq(tensor(float))`, `map(int64, float)`, `float32x4`, `complex<f32>`.
  composed,
  // Nobody's word that we know, but one that follows the naming of its family without contradiction
  // (`int6`, `float8_e2m5`, `q6_0_r4`), so probably newer than this table.
  well_formed,
  // The name of a mix of block types in a model file (`Q4_K_M`): no tensor has it.
  file_format,
  // Written like a scalar, and no scalar can be so: `F8E9`, `float33`, `f8_e4m4`.
  impossible,
  unknown,
};

struct DtypeWord {
  DtypeReading reading = DtypeReading::unknown;
  // Only for `DtypeReading::dtype`.
  const Dtype* dtype = nullptr;
  // The part that decided: in `seq(tensor(flot))` it is `flot`. A view into the word.
  std::string_view part;
};

// Reads a word as any of the systems would: letter case, `_`, namespaces (`torch.`, `at::k`), `DT_`
// and the like don't matter, `tensor(x)` is x. Bounded work, whatever the word.
DtypeWord read_dtype(std::string_view word);

// The dtype, or nullptr where the word isn't exactly one.
const Dtype* find_dtype(std::string_view word);

// Two dtypes that may be one and the same: equal, or a word of two meanings beside one of them.
bool same_dtype(const Dtype& a, const Dtype& b);

// The known word of which this one is a slip of the keyboard, or empty: letters one typing error
// apart, digits equal, and not a longer name built on a known word, since projects name their own
// formats so (`int8_block`, `ufloat8`).
std::string_view misspelt_dtype(std::string_view word);

// All known words, for suggestions.
std::span<const std::string_view> dtype_spellings();

// A format in which bits mean nothing without the format's own reader: block formats and floats of
// at most 8 bits. Unlike f16 and f32, such values are not converted on the way to another's kernel.
bool is_storage_format(const Dtype& dtype);

}  // namespace opseal
