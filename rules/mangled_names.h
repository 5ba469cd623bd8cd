#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace opseal {

// A kernel's name in the Itanium C++ ABI (`_ZN2ns6kernelIfLi4EEEvPT_`), read as far as rules need
// it: which function it is, whatever its template arguments. Read in bounded steps, since names
// come out of files; what can't be read, and C names, are functions of their own.
struct FunctionName {
  // Equal for all instantiations of one function and, but for chance, for them alone.
  std::uint64_t hash = 0;
  // The name has template arguments.
  bool instantiated = false;
  // A word of the function's own name, or of a namespace or class around it, names a GPU
  // architecture or generation: `gemm_sm90`, `hopper::gemm`. Template arguments don't count.
  bool names_architecture = false;
};

FunctionName read_function_name(std::string_view mangled);

// `ns::kernel`: the function without its template arguments and parameters, for messages.
std::string function_path(std::string_view mangled);

// `void ns::kernel<float, 4>(float const*, int)`: as C++ writes all of it. Empty for C names, and
// for what can't be read or is too long.
std::string demangled_name(std::string_view mangled);

// `ns::kernel<float, 4>`: as C++ writes it, without parameters; as it stands where it can't be
// read.
std::string readable_kernel(std::string_view mangled);

// The same, with `<...>` for template arguments that make it long.
std::string short_kernel(std::string_view mangled);

// What a kernel computes with that old devices can't, by the words in its mangled name.
enum class DtypeNeed : std::uint8_t { none, fp16, bf16, fp8, fp4 };
DtypeNeed dtype_need(std::string_view mangled);
// The least capability with machine instructions for it: 53, 80, 89, 100; 0 for none.
std::uint32_t least_capability(DtypeNeed need);

}  // namespace opseal
