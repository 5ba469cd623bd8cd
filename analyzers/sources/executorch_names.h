#pragma once

#include <cstdint>
#include <vector>

#include "analyzers/sources/code_functions.h"
#include "analyzers/sources/registrars_cpp.h"

namespace opseal {

// The operators as which kernels of ExecuTorch choose their code: the text behind `op_name`, or
// that of `ET_SWITCH_…`. A build that keeps some dtypes of some operators goes by it.
void read_operator_names(const CodeFunctions& code, std::uint32_t number,
                         std::vector<RegistrarRecord>& records);

}  // namespace opseal
