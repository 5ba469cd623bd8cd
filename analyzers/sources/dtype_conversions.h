#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/source/invocations.h"
#include "analyzers/sources/dispatches.h"
#include "analyzers/sources/records.h"

namespace opseal {

// A tensor that is converted first comes to a choice by dtype as another one. Of the function with
// these tokens: choices over what it converted are no longer known, and the calls that it hands
// converted tensors to are named.
void note_conversions(const SourceUnit& unit, const TokenRange& range, FunctionBody& body);

// Python's code calls an operator, by this name, in a function that converts tensors before.
bool python_converts_for(std::string_view bytes, std::string_view name);

// The choices of operators that Python converts for are no longer known. `paths`: of all files.
void forget_converted(const std::vector<std::string>& paths,
                      const std::function<bool(std::size_t, std::string&)>& read,
                      std::vector<TorchRecord>& records);

}  // namespace opseal
