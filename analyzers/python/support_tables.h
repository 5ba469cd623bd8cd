#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzers/python/registrations.h"

namespace opseal {

// A value that a set or a table names, as written: `torch.float16`, or the content of a text.
struct PythonKey {
  std::string text;
  // What stands beside it.
  std::string value;
  PythonPlace place;
};

// What a function lets in, beside what it (or the function that is asked on behalf of) looks the
// same thing up in.
struct PythonSupport {
  // Of the function that dispatches.
  std::string function;
  // The set, or the function that asks it.
  std::string predicate;
  PythonPlace predicate_place;
  std::vector<PythonKey> accepted;
  // The dictionary, or the function itself for a chain of `if`.
  std::string table;
  PythonPlace table_place;
  std::vector<PythonKey> entries;
  // Values that the function names besides.
  std::vector<PythonKey> named;
};

// Whether a file can hold such a pair at all. Costs a fraction of parsing.
bool may_hold_support(std::string_view text);

std::vector<PythonSupport> find_python_support(const ParsedPython& file);

}  // namespace opseal
