#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzers/python/registrations.h"

namespace opseal {

// One of two ways to compute the same, and the arguments that it reads.
struct PythonAlternative {
  // What is called there, or the condition.
  std::string name;
  std::vector<std::string> uses;
  PythonPlace place;
};

// A function that takes one way where something is installed and another where it isn't.
struct PythonAlternatives {
  std::string function;
  PythonPlace place;
  PythonAlternative fast;
  PythonAlternative slow;
};

// Whether a file can hold such a function at all.
bool may_hold_alternatives(std::string_view text);

std::vector<PythonAlternatives> find_python_alternatives(const ParsedPython& file);

}  // namespace opseal
