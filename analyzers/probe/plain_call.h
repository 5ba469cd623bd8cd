#pragma once

#include "analyzers/probe/ffi_question.h"
#include "analyzers/probe/operation.h"

namespace opseal::ffi {

// Calls a plain C function by its description. Throws std::invalid_argument where the description
// is none that can be followed. The function isn't asked whether it takes such arguments: nobody
// could tell.
KernelCall plain_call(void* function, const PlainInterface& plain);

}  // namespace opseal::ffi
