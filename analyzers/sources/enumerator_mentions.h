#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analyzers/sources/code_functions.h"

namespace opseal {

// By name of a value: how often code has it.
using EnumeratorMentions = std::unordered_map<std::string_view, std::uint32_t>;

// Counts for each name that is there how often code other than enumerations and the functions that
// are left out has it. A word of a macro or of a comment counts once, and so does the beginning of
// a name that something is pasted to. `enumerations`: by name the enumeration whose value is meant;
// where it is known that code means that of another one by it, that doesn't count.
void count_mentions(const CodeFunctions& code,
                    const std::function<bool(const CodeFunction&)>& is_left_out,
                    EnumeratorMentions& mentions,
                    const std::unordered_map<std::string_view, std::string>& enumerations = {});

// The enumeration that a name in a file means, where that is known; else empty.
std::string_view meant_at(const CodeFile& file, const Token& name);

}  // namespace opseal
