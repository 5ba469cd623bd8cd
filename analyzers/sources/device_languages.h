#pragma once

#include <string_view>

#include "analyzers/source/plain_source.h"

namespace opseal {

// Its kernels are those of CUDA or HIP. Other devices have `__global__` and `<<<…>>>`, too, with
// rules of their own.
bool is_cuda_source(const PlainSource& source, std::string_view path);

}  // namespace opseal
