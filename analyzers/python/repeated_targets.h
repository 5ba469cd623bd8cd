#pragma once

#include <string>
#include <vector>

#include "analyzers/python/parsed.h"
#include "analyzers/python/syntax.h"

namespace opseal {

// A place that hands a target to XLA, with a parameter that asks for a replacement of what has its
// name.
struct PythonRepeatedTarget {
  // What is called, by its full name.
  std::string how;
  // The function around it, and its parameter; empty where the call itself asks.
  std::string within;
  std::string parameter;
  // With the parameter a name that is registered is registered once more, and without it isn't.
  bool repeats = false;
  PythonPlace place;
};

// Of the functions of the file that hand over a name which they are given, or a constant, and of
// calls of brainevent's `register_ffi_target(…, replace=True)`.
std::vector<PythonRepeatedTarget> find_repeated_targets(const ParsedPython& file);

}  // namespace opseal
