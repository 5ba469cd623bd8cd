#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/python/parsed.h"

namespace opseal {

// What Python says of one function of a C library through `ctypes`: a declaration, or a call on a
// library that the file loads.
// Types are words: `pointer`, `pointer:f32` where it is said to what, `i32`, `u8`, `f64`, `bool`,
// `long`, `void`, and `?` for what isn't known.
struct PythonForeign {
  std::string name;
  PythonPlace place;
  bool called = false;
  // Of a call on what another file may load: its dotted name, with leading dots for a relative one.
  std::string imported;
  // Somebody looks at what the call returns.
  bool uses_result = false;
  // Of `argtypes`, or of the arguments of a call: `address` is one that is given as a plain number.
  std::optional<std::vector<std::string>> arguments;
  // Of `restype`.
  std::optional<std::string> result;
};

struct PythonForeignFile {
  std::vector<PythonForeign> uses;
  // Names of the file that are libraries.
  std::set<std::string> libraries;
  // Names that are handed on, so that something else may declare them.
  std::set<std::string> handed_on;
  // Functions are declared whose names only the running code knows.
  bool open = false;
};

// Costs a fraction of parsing.
bool may_hold_foreign(std::string_view text);

PythonForeignFile find_python_foreign(const ParsedPython& file);

}  // namespace opseal
