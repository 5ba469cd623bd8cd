#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "analyzers/probe/ffi_abi.h"

namespace opseal {

// Fills a buffer with values that depend on nothing but the seed and the place: small multiples of
// 1/64 that every floating dtype from 16 bits on holds exactly, so that kernels of two dtypes are
// given the same numbers; small numbers from 0 on for integers, which are often indexes; 0 and 1
// for booleans.
void fill_values(std::span<unsigned char> bytes, const ffi::DtypeInfo& dtype, std::uint64_t seed);

// Large numbers of both signs, in no order. False: of this dtype there are none that say anything.
bool fill_wild(std::span<unsigned char> bytes, const ffi::DtypeInfo& dtype);

// A number from 0 up to 1 that depends on nothing but the seed and the place.
double unit_number(std::uint64_t seed, std::uint64_t place);

// Writes an element; false: of this dtype that is not done (it is for F32 and F64).
bool put_value(std::span<unsigned char> bytes, const ffi::DtypeInfo& dtype, std::size_t element,
               double value);

// Writes an element of an integer dtype, of numbers that all of them have: below 128. Else nothing.
void put_integer(std::span<unsigned char> bytes, const ffi::DtypeInfo& dtype, std::size_t element,
                 std::size_t value);

// Numbers between 0.2 and 1.8 of both signs, with all digits that the dtype has. False: the dtype
// is none of 32 or 64 bits.
bool fill_full(std::span<unsigned char> bytes, const ffi::DtypeInfo& dtype, std::uint64_t seed);

// Binary digits of the significand, from the first one to the last that isn't 0; 0 for 0, and for
// what is no number.
int digits_of(double value);

// An element as a number; of complex numbers `part` 1 is the imaginary one. Empty: not a dtype that
// can be compared so.
std::optional<double> value_at(std::span<const unsigned char> bytes, const ffi::DtypeInfo& dtype,
                               std::size_t element, unsigned part = 0);

// 2 for complex dtypes.
unsigned parts_of(const ffi::DtypeInfo& dtype);

// The distance between neighbouring numbers of the dtype at a value. 0: the dtype is no floating
// one.
double unit_in_last_place(const ffi::DtypeInfo& dtype, double value);

// The largest finite magnitude; 0: there is none.
double largest_magnitude(std::span<const unsigned char> bytes, const ffi::DtypeInfo& dtype);

// A relative distance that rounding does not explain: half of the digits of the dtype. 0 where it
// isn't floating.
double half_of_the_digits(const ffi::DtypeInfo& dtype);

}  // namespace opseal
