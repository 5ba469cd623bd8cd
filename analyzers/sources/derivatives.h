#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzers/python/registrations.h"
#include "analyzers/sources/placed_writer.h"
#include "analyzers/sources/records.h"
#include "analyzers/sources/saved_counts.h"

namespace opseal {

// The system of functions of JAX that bring their own derivative (`custom_vjp`, `custom_jvp`) and
// are in no registry.
inline constexpr std::string_view derivatives_system = "jax-derivatives";

// What `f.defvjp(forward, backward)` or `f.defjvp(rule)` says.
struct DerivativeRecord {
  std::string name;
  SourcePlace place;
  SourceFunction function;
  // Arguments that take a gradient.
  std::uint32_t inputs = 0;
  std::vector<RuleCall> calls;
  // Of `defvjp`.
  std::string backward;
  SourcePlace backward_place;
  std::vector<GradientCount> returns;
  SavedCounts saved;
};

// Those whose function and rules the file itself shows.
void read_derivatives(const std::vector<PythonRegistration>& registrations, std::uint32_t file,
                      std::vector<DerivativeRecord>& records);

// Writes `operators`. Needs: an open document.
void write_derivatives(const std::vector<DerivativeRecord>& records,
                       const std::vector<std::string>& paths, PlacedWriter& writer);

}  // namespace opseal
