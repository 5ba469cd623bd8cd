#pragma once

#include <string>
#include <vector>

#include "analyzers/source/invocations.h"
#include "analyzers/sources/placed_writer.h"
#include "analyzers/sources/records.h"

namespace opseal {

// One kernel of PaddlePaddle for one backend, with the dtypes that it is made for.
struct PaddleRecord {
  PlacedName name;
  // As written: `GPU`, `npu`.
  std::string backend;
  // Only where the build is for AMD's devices.
  bool for_amd = false;
  SourceFunction function;
  // In opseal's spelling; said only where all of them are known.
  bool says_dtypes = false;
  std::vector<std::string> dtypes;
  SourcePlace dtypes_place;
  BuildCondition when;
  std::string macro;
  SourcePlace place;
};

// `PD_REGISTER_KERNEL(name, backend, layout, function, dtypes…) {}` and its sisters for plugins.
void read_paddle_cpp(const SourceUnit& unit, const Invocations& found,
                     std::vector<PaddleRecord>& records);

// Writes `operators`: the kernel of `x_grad` is the gradient of `x`. Needs: an open document.
void write_paddle(const std::vector<PaddleRecord>& records, PlacedWriter& writer);

}  // namespace opseal
