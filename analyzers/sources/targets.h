#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzers/python/registrations.h"
#include "analyzers/source/invocations.h"
#include "analyzers/sources/placed_writer.h"
#include "analyzers/sources/records.h"

namespace opseal {

// A handler under a name by which XLA, or the Python that registers it, finds it.
struct TargetRecord {
  // Empty where only the running code knows it; `written` is what stands there.
  PlacedName name;
  std::string written;
  // As written; empty where it isn't said, as in a table that Python goes through.
  PlacedName platform;
  // It is asked for and not registered.
  bool lookup = false;
  SourceFunction function;
  // 0 untyped, 1 typed, -1 not said.
  int api_version = -1;
  // `typed`, `untyped`, or empty: what the code behind it is.
  std::string handler_kind;
  // Of a bundle, those that are registered.
  std::vector<std::string> stages;
  std::vector<std::string> traits;
  BuildCondition when;
  std::string macro;
  SourcePlace place;
};

// `XLA_FFI_REGISTER_HANDLER`, and tables of handlers (`d["x"] = EncapsulateFfiHandler(H)`).
void read_targets_cpp(const SourceUnit& unit, const Invocations& found,
                      std::vector<TargetRecord>& records);
// `jax.ffi.register_ffi_target` and its forerunners, `ffi_call`.
void read_targets_python(const std::vector<PythonRegistration>& registrations,
                         std::string_view text, std::uint32_t file,
                         std::vector<TargetRecord>& records);

// Writes `targets`, and `dispatch` with the names that are asked for if all that could be
// registered is known. Needs: an open document.
void write_targets(const std::vector<TargetRecord>& records, bool partial, PlacedWriter& writer);

}  // namespace opseal
