#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzers/python/parsed.h"
#include "analyzers/python/syntax.h"

namespace opseal {

// An error that tells that a registry has no entry, with a list of what is there.
struct PythonMissError {
  // Its class, as written.
  std::string error;
  // The function that raises it.
  std::string within;
  // What was looked into, as written.
  std::string registry;
  // The list as written; empty where nothing is ever in it.
  std::string listed;
  PythonPlace place;
  PythonPlace list_place;
};

// Whether a file can hold one with an empty list. Costs a fraction of parsing.
bool may_hold_miss_errors(std::string_view text);

std::vector<PythonMissError> find_miss_errors(const ParsedPython& file);

}  // namespace opseal
