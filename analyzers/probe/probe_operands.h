#pragma once

#include <vector>

#include "analyzers/fact_writer.h"
#include "analyzers/probe/ffi_question.h"
#include "opseal/facts.h"

namespace opseal {

// Operands of a call as `probes` state them: the one dtype, the extents, the strides where elements
// don't lie side by side.
void write_probe_operands(FactWriter& writer, const Location& place, Key key,
                          const std::vector<ffi::QuestionOperand>& operands);

}  // namespace opseal
