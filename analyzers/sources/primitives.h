#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/python/registrations.h"
#include "analyzers/sources/placed_writer.h"

namespace opseal {

// What a Python file says of a primitive of JAX, or of one of brainevent or braintrace, which are
// built on those.
struct PrimitiveRecord {
  PythonRegistration said;
  std::uint32_t file = 0;
  SourcePlace place;
};

// Takes the registrations that are about primitives.
void read_primitives(std::vector<PythonRegistration>& registrations, std::uint32_t file,
                     std::vector<PrimitiveRecord>& records);

// A primitive, and what the files of a tree register on it.
struct Primitive {
  std::string name;
  // In the order of files and texts.
  std::vector<const PrimitiveRecord*> records;
};

// The primitives of one system (`brainevent`, `braintrace`, `jax`), sorted by name. What is
// registered on a name that only the running code knows is left out.
std::vector<Primitive> primitives_of(std::string_view system,
                                     const std::vector<PrimitiveRecord>& records);

// Of which rules none can be registered that isn't among the records.
struct PrimitivesKnown {
  bool transposes = false;
  bool batching = false;
};

// Writes `operators`. Needs: an open document.
void write_primitives(const std::vector<Primitive>& primitives, const PrimitivesKnown& whole,
                      PlacedWriter& writer);

}  // namespace opseal
