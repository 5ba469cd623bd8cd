#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/python/parsed.h"
#include "analyzers/python/registrations.h"

namespace opseal {

// What Triton's compiler makes of something: it tells pointers from numbers by what it is given.
enum class TritonKind : std::uint8_t { unknown, pointer, number };

// A function that `triton.jit` compiles, with what its other decorators give it.
struct TritonKernel {
  std::string name;
  // Of the name.
  PythonPlace place;
  PythonFunction function;
  // Of each parameter.
  std::vector<TritonKind> kinds;
  // Parameters that a launch has to give.
  std::vector<std::string> required;
  // What a tuner gives by name, so that a launch must not.
  std::vector<std::string> tuned;
  // It stands in a function, where no other file can name it.
  bool nested = false;
};

// `kernel[grid](…)`.
struct TritonLaunch {
  // Index of a kernel of the same file, or `elsewhere`, and then `path` is what an import says.
  std::uint32_t kernel = elsewhere;
  std::string path;
  PythonPlace place;
  std::uint32_t positional = 0;
  std::vector<std::string> names;
  // Of the arguments in order, then of those by name.
  std::vector<TritonKind> kinds;
  // `*args` or `**kwargs`: what isn't said may still be there.
  bool open_ended = false;

  static constexpr std::uint32_t elsewhere = 0xffffffff;
};

struct PythonTriton {
  std::vector<TritonKernel> kernels;
  std::vector<TritonLaunch> launches;
};

// Costs a fraction of parsing.
bool may_hold_triton(std::string_view text);

// Kernels that have decorators of Triton alone, and their launches. A name that is bound twice
// counts for none.
PythonTriton find_python_triton(const ParsedPython& file);

}  // namespace opseal
