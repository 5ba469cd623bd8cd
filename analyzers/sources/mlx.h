#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzers/source/plain_source.h"
#include "analyzers/sources/placed_writer.h"
#include "analyzers/sources/records.h"

namespace opseal {

inline constexpr std::string_view mlx_system = "mlx";

// A primitive of MLX, a class whose `is_equivalent` compares what it was made with.
struct MlxPrimitive {
  // A method that makes its result anew, and the members that it names.
  struct Method {
    std::string name;
    SourcePlace place;
    std::vector<std::string> uses;
  };

  std::string name;
  SourcePlace place;
  std::vector<PlacedName> members;
  std::vector<Method> batching;
  std::vector<Method> jvp;
};

// Whether a file may define such a method.
bool may_hold_mlx(std::string_view bytes);

// The primitives with a `vmap` or `jvp` in the same file that computes something.
void read_mlx(const PlainSource& source, std::vector<MlxPrimitive>& primitives);

// Writes `operators`. Needs: an open document.
void write_mlx(const std::vector<MlxPrimitive>& primitives, PlacedWriter& writer);

}  // namespace opseal
