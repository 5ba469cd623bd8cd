#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/python/triton_launches.h"
#include "analyzers/sources/placed_writer.h"

namespace opseal {

// Kernels that Python makes for `triton.jit`, and what starts them.
inline constexpr std::string_view triton_system = "triton";

// What one file says.
struct TritonRecord {
  std::uint32_t file = 0;
  PythonTriton said;
};

// A launch whose kernel is known.
struct TritonStart {
  const TritonKernel* kernel = nullptr;
  std::uint32_t kernel_file = 0;
  const TritonLaunch* launch = nullptr;
  std::uint32_t launch_file = 0;
};

// Finds the kernels of all launches, by name or through imports. Needs: the records outlive it.
std::vector<TritonStart> join_triton(const std::vector<TritonRecord>& records,
                                     const std::vector<std::string>& paths);

// Writes `functions` and `uses`. Needs: an open document.
void write_triton(const std::vector<TritonStart>& starts, const std::vector<std::string>& paths,
                  PlacedWriter& writer);

}  // namespace opseal
