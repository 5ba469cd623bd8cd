#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace opseal {

// A file that is on no disk.
struct ToolkitHeader {
  std::string path;
  std::string_view text;
};

// What a file in CUDA is parsed with besides the flags of its build.
struct CudaParse {
  std::vector<std::string> flags;
  std::vector<ToolkitHeader> files;
};

// With the toolkit of CUDA, where the flags or the usual place have one; else with headers that
// stand for it and say what host code needs: its types, the kernels' own variables, and what a
// launch calls.
CudaParse parse_with_toolkit(const std::vector<std::string>& flags);

// What nvcc knows by itself.
extern const std::string_view clang_cuda_prelude;

}  // namespace opseal
