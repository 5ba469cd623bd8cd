#include "analyzers/clang/library.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <vector>

#include "opseal/ascii.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// The version that everything was measured with, then from the newest down.
constexpr std::array<int, 6> versions{19, 22, 21, 20, 18, 17};

// As Debian, Fedora and the installers of LLVM call it.
std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const int version : versions) {
    const std::string number = std::to_string(version);
    names.push_back("libclang-" + number + ".so." + number);
    names.push_back("libclang-" + number + ".so.1");
    names.push_back("libclang.so." + number);
    names.push_back("/usr/lib/llvm-" + number + "/lib/libclang.so.1");
    names.push_back("/usr/lib/llvm" + number + "/lib/libclang.so");
  }
  names.push_back("libclang.so.1");
  names.push_back("libclang.so");
  return names;
}

// Empty, or why not.
std::string try_open(const std::string& name, ClangLibrary& library) {
  void* const handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* error = ::dlerror();
    return error == nullptr ? quote(name) + " can't be opened" : error;
  }
  const char* missing = nullptr;
  const auto find = [&](const char* symbol) {
    void* const found = ::dlsym(handle, symbol);
    if (found == nullptr && missing == nullptr) missing = symbol;
    return found;
  };
  ClangFunctions functions;
#define OPSEAL_CLANG_FUNCTION(name) \
  functions.name = reinterpret_cast<decltype(&clang_##name)>(find("clang_" #name));
#include "analyzers/clang/functions.def"
#undef OPSEAL_CLANG_FUNCTION
  if (functions.getClangVersion != nullptr && functions.getCString != nullptr &&
      functions.disposeString != nullptr) {
    const CXString said = functions.getClangVersion();
    const char* text = functions.getCString(said);
    library.version = clang_version_of(text == nullptr ? "" : text);
    functions.disposeString(said);
    if (library.version < oldest_libclang) {
      return quote(name) + " is version " + std::to_string(library.version) + ", expected " +
             std::to_string(oldest_libclang) + " or newer";
    }
  }
  if (missing != nullptr) return quote(name) + " has no function " + quote(missing);
  library.functions = functions;
  library.open = true;
  return {};
}

}  // namespace

int clang_version_of(const std::string& text) {
  constexpr std::string_view mark = "version ";
  const std::size_t at = text.find(mark);
  if (at == text.npos) return 0;
  int version = 0;
  for (std::size_t digit = at + mark.size(); digit < text.size() && is_digit(text[digit]);
       ++digit) {
    if (version > 999) return 0;
    version = version * 10 + (text[digit] - '0');
  }
  return version;
}

ClangLibrary open_clang() {
  ClangLibrary library;
  if (const char* named = std::getenv("OPSEAL_LIBCLANG"); named != nullptr && *named != '\0') {
    library.reason = try_open(named, library);
    return library;
  }
  std::string too_old;
  for (const std::string& name : known_names()) {
    const std::string reason = try_open(name, library);
    if (library.open) return library;
    if (library.version != 0 && too_old.empty()) too_old = reason;
  }
  library.reason = too_old.empty() ? "no libclang of version " + std::to_string(oldest_libclang) +
                                         " or newer is installed, and `OPSEAL_LIBCLANG` names none"
                                   : too_old;
  return library;
}

}  // namespace opseal
