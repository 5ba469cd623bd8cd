#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzers/python/gradients.h"
#include "analyzers/source/invocations.h"
#include "analyzers/sources/placed_writer.h"
#include "analyzers/sources/records.h"

namespace opseal {

enum class TensorflowUse : std::uint8_t { define, kernel, gradient, not_differentiable };

// `data: T`: an input or output, by TensorFlow's own words.
struct TensorflowOperand {
  std::string name;
  std::string type;
  // `N * T`, a list of types: any number of tensors.
  bool variadic = false;
};

using TypeLists = std::vector<std::pair<std::string, std::vector<std::string>>>;

struct TensorflowRecord {
  TensorflowUse use = TensorflowUse::define;
  // Empty where only the running code knows it, and then `written` is what stands there.
  PlacedName name;
  std::string written;
  // define; where the specification can't be read as a whole, there are no operands.
  bool says_operands = false;
  std::vector<TensorflowOperand> inputs;
  std::vector<TensorflowOperand> outputs;
  // Type variable -> the types that it may be, as TensorFlow spells them. Of a kernel it is said
  // where all of them are known.
  bool says_types = false;
  TypeLists types;
  // kernel
  std::string platform;
  std::string label;
  PlacedName function;
  // gradient
  bool always = false;
  std::optional<std::uint32_t> returns;
  // `scale_grad`: it hands back the outputs of this operator, named as Python does.
  std::string returns_outputs_of;
  SourcePlace returns_place;
  BuildCondition when;
  std::string macro;
  SourcePlace place;
};

// `REGISTER_OP`, `REGISTER_KERNEL_BUILDER`.
void read_tensorflow_cpp(const SourceUnit& unit, const Invocations& found,
                         std::vector<TensorflowRecord>& records);
void read_tensorflow_python(const std::vector<PythonGradient>& gradients, std::uint32_t file,
                            std::vector<TensorflowRecord>& records);

// Writes `operators`, and `registrations` of gradients that one name has several of. Needs: an open
// document.
void write_tensorflow(const std::vector<TensorflowRecord>& records, bool partial,
                      PlacedWriter& writer);

}  // namespace opseal
