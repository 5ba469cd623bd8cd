#pragma once

#include "analyzers/python/registrations.h"
#include "analyzers/python/scopes.h"
#include "analyzers/python/syntax.h"

namespace opseal {

// Whether the `custom_call`s that a lowering writes, `rule(ctx, x, …)`, fix the layouts of their
// operands. Sets `layouts` and `layouts_place`. What `ffi_lowering` makes fixes them by itself and
// is none of these.
void read_lowered_call(const PythonSyntax& syntax, const PythonScopes& scopes,
                       PythonRegistration& made);

}  // namespace opseal
