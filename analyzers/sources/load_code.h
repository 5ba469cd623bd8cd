#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/sources/agreeing_tables.h"
#include "analyzers/sources/dispatch_pairs.h"
#include "analyzers/sources/source_texts.h"

namespace opseal {

// The predicates of a tree with their dispatches. `paths` are all its files, sorted; `asking` those
// that name a predicate. Each folder of such a file is one backend, with all that lies below and
// has no predicates of its own; of `naming`, which only define functions that sound like one, each
// is looked at alone.
std::vector<DispatchPair> load_dispatch_pairs(const std::vector<std::string>& paths,
                                              const std::vector<std::size_t>& asking,
                                              const std::vector<std::size_t>& naming,
                                              const PairOptions& options, unsigned threads,
                                              const SourceTexts& texts);

// The sources that are looked into for these.
std::vector<std::size_t> files_of_pairs(const std::vector<std::string>& paths,
                                        const std::vector<std::size_t>& asking,
                                        const std::vector<std::size_t>& naming);

// The tables of a tree over enumerations. `files`: those that may hold one.
std::vector<AgreeingTables> load_agreeing_tables(const std::vector<std::string>& paths,
                                                 const std::vector<std::size_t>& files,
                                                 const SourceTexts& texts);

// The system whose enumeration the pairs are over: `ggml`, or `engine`.
std::string_view system_of(const std::vector<DispatchPair>& pairs);

}  // namespace opseal
