#pragma once

#include <iosfwd>

#include "cli/options.h"
#include "opseal/facts.h"

namespace opseal {

// The commands. Each writes to standard output and returns the exit code.

int check(const Options& options);
int diff(const Options& options);
int dump(const Options& options);
int explain(const Options& options);
int list_rules(const Options& options);
int print_schema(const Options& options);
int export_registry(const Options& options);
int init(const Options& options);
int probe(const Options& options);

// What `dump` writes: a manifest, or a list of them where there is not just one document.
void write_dump(const Facts& facts, std::ostream& out);

}  // namespace opseal
