#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzers/source/invocations.h"
#include "analyzers/sources/placed_writer.h"
#include "analyzers/sources/records.h"

namespace opseal {

// What selects a kernel of ONNX Runtime, and so names the class that stands for it: the macros
// paste these words into one.
struct OnnxKernelKey {
  // As live registries spell them: `CPUExecutionProvider`, `com.microsoft`.
  std::string provider;
  std::string domain;
  std::string name;
  std::uint32_t since = 0;
  // None: the kernel was registered without an end.
  std::optional<std::uint32_t> until;
  // Of typed kernels, as written, pasted with `_`: two types and one so named are the same class.
  std::string types;

  friend auto operator<=>(const OnnxKernelKey&, const OnnxKernelKey&) = default;
};

enum class OnnxUse : std::uint8_t {
  kernel,
  // A row of a table from which a registry is built.
  row,
  // The class of a kernel is declared, as is done where the table stands.
  declaration,
};

struct OnnxRecord {
  OnnxUse use = OnnxUse::kernel;
  // The words that make the key are literals.
  bool decided = false;
  OnnxKernelKey key;
  // What stands in the place of the key where it isn't decided.
  std::string written;
  SourcePlace name_place;
  // Type variable -> `tensor(float)`; said only where all that the builder restricts is known.
  bool says_constraints = false;
  std::vector<std::pair<std::string, std::vector<std::string>>> constraints;
  // The class that runs.
  PlacedName function;
  BuildCondition when;
  std::string macro;
  SourcePlace place;
};

// `ONNX_OPERATOR_…_KERNEL_EX`, and `BuildKernelCreateInfo<…_CLASS_NAME(…)>` in tables.
void read_onnx_cpp(const SourceUnit& unit, const Invocations& found,
                   std::vector<OnnxRecord>& records);

// Reads the chain of a KernelDefBuilder. False where something that it restricts can't be read.
bool read_onnx_constraints(Tokens builder, OnnxRecord& record);

// Writes `operators`. Needs: an open document.
void write_onnx(const std::vector<OnnxRecord>& records, bool partial, PlacedWriter& writer);

}  // namespace opseal
