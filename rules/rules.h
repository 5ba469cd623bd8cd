#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "opseal/rule.h"

namespace opseal {

// Sorted by id. Written out in `rules.def`, never filled by constructors: a table that fills itself
// before `main` is the very thing that loses entries in a static library.
std::span<const Rule* const> all_rules();

// nullptr when there is none.
const Rule* find_rule(std::string_view id);

// The option of the command line by which a run states a key that hardly any input says: `--arch`.
// Empty for other keys.
std::string_view option_that_states(Key key);

// Every system has the library, or it is the CUDA runtime: no package's symbols are to be had from
// it. `library-needs-missing` judges by it whether a symbol is nowhere.
bool has_no_package_symbols(std::string_view soname);

// The facts hold a dump from before and one from after.
bool has_two_dumps(const Facts& facts);

// Runs one rule. `findings` gets what it found, in the order in which it looked.
RuleRun run_rule(const Rule& rule, const Facts& facts, std::vector<Finding>& findings);

// Runs rules side by side on up to `threads` threads. The result doesn't depend on how many:
// findings come in the order of the rules.
std::vector<RuleRun> run_rules(std::span<const Rule* const> rules, const Facts& facts,
                               unsigned threads, std::vector<Finding>& findings);

}  // namespace opseal
