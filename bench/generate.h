#pragma once

#include <cstdint>
#include <string>

namespace opseal::bench {

// Writes a manifest without defects that holds so many registrations: half of them operators, half
// of them their kernels. Every other operator is like those that brainevent registers (JVP rules,
// transpose, batching, a compiled kernel), every other one like those of torch (a schema, operands,
// tags). Names of operators and functions are all different, the rest repeats as it does in the
// recorded registries. Returns the bytes written.
std::uint64_t write_manifest(const std::string& path, std::uint64_t registrations);

}  // namespace opseal::bench
