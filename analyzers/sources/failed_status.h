#pragma once

#include <cstdint>
#include <vector>

#include "analyzers/sources/code_functions.h"
#include "analyzers/sources/registrars_cpp.h"

namespace opseal {

// Calls by which a kernel of TensorFlow says that it failed, in a branch of its own: `continued`
// where the function then goes on with its work, `returned` where it leaves. Of others nothing is
// said: the status is asked for later, or what follows is decided by something.
void read_failed_statuses(const CodeFunctions& code, std::uint32_t number,
                          std::vector<RegistrarRecord>& records);

}  // namespace opseal
