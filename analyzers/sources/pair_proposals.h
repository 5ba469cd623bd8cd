#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/sources/load_code.h"
#include "analyzers/sources/source_texts.h"

namespace opseal {

struct ProposedFunction {
  // `A::supports`
  std::string name;
  // Index into the paths.
  std::size_t file = 0;
  // From 1.
  std::uint32_t line = 0;
};

// A function that is named after what it supports and that no dispatch was found for, with those
// that decide by the same enumeration, the likeliest first.
struct PairProposal {
  std::string enumeration;
  ProposedFunction predicate;
  std::vector<ProposedFunction> dispatches;
};

// Of C++ sources; in the order of the paths, which are sorted.
std::vector<PairProposal> propose_pairs(const std::vector<std::string>& paths,
                                        const SourceTexts& texts);

}  // namespace opseal
