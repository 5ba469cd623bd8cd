#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzers/python/registrations.h"
#include "analyzers/sources/placed_writer.h"
#include "analyzers/sources/records.h"

namespace opseal {

// An operator of onnxruntime-extensions that Python computes: `@onnx_op(op_type="X", inputs=[…])`.
struct OnnxFunctionRecord {
  std::string name;
  // One where nothing is said.
  std::uint32_t inputs = 1;
  std::uint32_t outputs = 1;
  std::vector<std::string> attributes;
  SourceFunction function;
  SourcePlace place;
};

// Those of which all of that is written out.
void read_onnx_python(const std::vector<PythonRegistration>& registrations, std::uint32_t file,
                      std::vector<OnnxFunctionRecord>& records);

// Writes `operators`. Needs: an open document.
void write_onnx_functions(const std::vector<OnnxFunctionRecord>& records, PlacedWriter& writer);

}  // namespace opseal
