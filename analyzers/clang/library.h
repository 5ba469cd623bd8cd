#pragma once

#include <clang-c/Index.h>

#include <string>

namespace opseal {

// libclang is opened when it is asked for: opseal runs without it, and what it says of C++ by types
// is left out then. Its headers are needed to build, for the declarations alone.
struct ClangFunctions {
#define OPSEAL_CLANG_FUNCTION(name) decltype(&clang_##name) name = nullptr;
#include "analyzers/clang/functions.def"
#undef OPSEAL_CLANG_FUNCTION
};

struct ClangLibrary {
  // Whether the functions may be called.
  bool open = false;
  // `19`
  int version = 0;
  // Why it isn't open.
  std::string reason;
  ClangFunctions functions;
};

// Binary and unary operators have a kind from this version on.
inline constexpr int oldest_libclang = 17;

// The major version in what libclang says of itself: 19 for `Debian clang version 19.1.7`; 0 where
// there is none.
int clang_version_of(const std::string& text);

// Opens the library that the environment variable `OPSEAL_LIBCLANG` names, or else the first of the
// well-known ones that is new enough. It stays open to the end of the process.
ClangLibrary open_clang();

}  // namespace opseal
