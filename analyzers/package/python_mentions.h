#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace opseal {

// What a Python file says of extension modules and libraries, read from its text alone: no Python
// runs, so names that are put together at run time stay unknown.
struct PythonMention {
  // A module with its package (`pkg._x`), or the name of a library file without its folder
  // (`libx.so.1`), where `*` stands for what isn't known.
  std::string name;
  // From 1.
  std::uint32_t line = 0;
};

struct PythonMentions {
  // Every module that an import may mean: `from a import b` names `a` and `a.b`.
  std::vector<PythonMention> imports;
  std::vector<PythonMention> libraries;
};

// `path`: of the file, from where modules are looked for (`pkg/__init__.py`), by which relative
// imports are resolved. Says nothing of texts that stand alone, such as docstrings.
PythonMentions find_python_mentions(std::string_view text, std::string_view path);

// The module that an extension file is: `pkg._x` of `pkg/_x.cpython-311-x86_64-linux-gnu.so`.
std::string module_of_extension(std::string_view path);

// Whether such a name means the file: equal, the beginning of its version (`libx.so` of
// `libx.so.1`), or a pattern that fits.
bool mention_fits(std::string_view mention, std::string_view file_name);

}  // namespace opseal
