#pragma once

#include "analyzers/probe/ffi_question.h"
#include "analyzers/probe/operation.h"

namespace opseal::ffi {

// What is done with a kernel of any interface, in the child. Each fills in its part of the answer.

// Again and again with the same arguments where that tells something, and once with others where
// that tells of writes.
void probe_call(const Question& question, const KernelCall& call, Answer& answer);

// The first calls of the process, all at once, and then one after the other.
void probe_threads(const Question& question, const KernelCall& call, Answer& answer);

// With the operands laid out as the question says, and before that with all of them dense.
void probe_view(const Question& question, const KernelCall& call, Answer& answer);

// Once more with other memory, and nothing else: for what becomes of the question's own numbers.
void probe_values(const Question& question, const KernelCall& call, Answer& answer);

}  // namespace opseal::ffi
