#pragma once

#include "cli/options.h"

namespace opseal {

// The commands beside `check`. Each writes to standard output and returns the exit code.

int dump(const Options& options);
int explain(const Options& options);
int list_rules(const Options& options);
int print_schema(const Options& options);
int export_registry(const Options& options);

}  // namespace opseal
