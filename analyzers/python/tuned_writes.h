#pragma once

#include <vector>

#include "analyzers/python/cache_keys.h"

namespace opseal {

// The parameters of a Triton kernel by which one more run of it changes what it has made: it loads
// from them, computes with that, and stores to the same address, or adds to them atomically. Each
// with the place of the store. What may leave things as they are is left out: copies, bounds,
// masks, and what an `if` decides.
std::vector<PythonKeyPart> tuned_writes(const PythonSyntax& syntax, const PythonScopes& scopes,
                                        const PythonFunction& kernel);

}  // namespace opseal
