#pragma once

#include <string>
#include <string_view>

namespace opseal {

// What stands before a file that is parsed without headers: the names of the standard library and
// of frameworks that say what a kernel takes and who owns memory, as far as that needs, and the
// macros of registration as functions and objects. It ends with a line end.
// `path`: of the file, which says whether it is CUDA.
const std::string& clang_prelude(std::string_view path);

// Its parts, in this order.
extern const std::string_view clang_standard_prelude;
extern const std::string_view clang_framework_prelude;

}  // namespace opseal
