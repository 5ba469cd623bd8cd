#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/source/invocations.h"
#include "analyzers/sources/dispatches.h"
#include "analyzers/sources/records.h"
#include "analyzers/sources/source_texts.h"

namespace opseal {

// A tensor that is converted first comes to a choice by dtype as another one. Of the function with
// these tokens: choices over what it converted are no longer known, and the calls that it hands
// converted tensors to are named.
void note_conversions(const SourceUnit& unit, const TokenRange& range, FunctionBody& body);

// The names that Python's code calls as members in functions which convert tensors before.
std::set<std::string, std::less<>> python_converts_for(
    std::string_view bytes, const std::set<std::string, std::less<>>& names);

// The choices of operators that Python converts for are no longer known. `paths`: of all files.
void forget_converted(const std::vector<std::string>& paths, const SourceTexts& texts,
                      std::vector<TorchRecord>& records);

}  // namespace opseal
