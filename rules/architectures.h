#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opseal/facts.h"

namespace opseal {

// A CUDA architecture: of code, what it was made for; of a device, its compute capability.
struct Architecture {
  std::uint16_t major = 0;
  std::uint16_t minor = 0;
  enum class Scope : std::uint8_t {
    // Runs on later devices too.
    plain,
    // `f`: uses what the devices of one family have.
    family,
    // `a`: uses what this very device has.
    exact
  };
  Scope scope = Scope::plain;

  // 90 for 9.0, 103 for 10.3.
  std::uint32_t number() const { return std::uint32_t{major} * 10 + minor; }
  friend bool operator==(const Architecture&, const Architecture&) = default;
};

// `sm_90a`, `SM90a`, `compute_90`, `9.0a`, `9.0+PTX`, `90-real`, `90`. Any number: new devices come
// faster than releases of this tool. Nothing for words that name no single CUDA architecture
// (`native`, `gfx90a`, `hopper`).
std::optional<Architecture> read_architecture(std::string_view word);

// The capability of a device of that name: a device has no scope.
inline Architecture capability_of(Architecture architecture) {
  architecture.scope = Architecture::Scope::plain;
  return architecture;
}

// `sm_90a`.
std::string to_text(const Architecture& architecture);
// `sm_80, sm_90a and sm_120`, each in backticks.
std::string to_text(const std::vector<Architecture>& architectures);

// An embedded board (Jetson, DRIVE). NVIDIA promises binary compatibility neither between boards
// and other devices nor from one board to the next ("CUDA C++ Programming Guide", Binary
// Compatibility), whatever happens to run.
bool is_embedded(const Architecture& architecture);

// Whether machine code runs on a device of that capability ("CUDA C++ Programming Guide", Binary
// Compatibility and Family-Specific Features).
bool machine_code_runs(const Architecture& code, const Architecture& device);

// Whether the driver of such a device can compile PTX made for `ptx`.
bool ptx_compiles(const Architecture& ptx, const Architecture& device);

// The least CUDA release whose driver reads a PTX ISA version: `13.0` for `9.0`. Empty for versions
// that the table lacks.
std::string_view release_for_ptx(std::string_view isa_version);

// An architecture of the stated fleet, and where it is stated.
struct FleetMember {
  Architecture device;
  Fact stated;
};

// What `architectures` of a manifest and of the settings of the run state, each once. Words that
// name no CUDA architecture are left out. At most 64.
std::vector<FleetMember> fleet_of(const Facts& facts, const Fact& manifest);

}  // namespace opseal
