#pragma once

#include <string>
#include <string_view>

namespace opseal {

// What stands before a file that is parsed without headers: the names of the standard library and
// of frameworks that say what a kernel takes and who owns memory, as far as that needs, and the
// macros of registration as functions and objects. It ends with a line end.
const std::string& clang_prelude(std::string_view path);

}  // namespace opseal
