#pragma once

#include <string_view>

namespace opseal {

// The one argument by which the program starts itself to read sources with libclang.
inline constexpr std::string_view typed_child_argument = "--typed-child";

// Reads questions from standard input and answers them one by one through the descriptor for
// answers. libclang is not made for hostile sources, and what it does with one may end this process
// at any time, by a crash or by the limits that it sets itself: whoever started it goes on with the
// file behind. An answer is written when it is whole, with the number of its question before it.
int run_typed_child();

// The first texts of rows.
namespace typed_rows {
// The library that is used: its version. Or why there is none.
inline constexpr std::string_view library = "library";
inline constexpr std::string_view missing = "missing";
// A number: this question is being looked at.
inline constexpr std::string_view begin = "begin";
// Number, whether headers were read, and the answer.
inline constexpr std::string_view answer = "answer";
// Number and reason.
inline constexpr std::string_view failed = "failed";
}  // namespace typed_rows

}  // namespace opseal
