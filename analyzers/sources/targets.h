#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzers/python/registrations.h"
#include "analyzers/source/invocations.h"
#include "analyzers/sources/handlers.h"
#include "analyzers/sources/placed_writer.h"
#include "analyzers/sources/records.h"

namespace opseal {

// One argument by name of a call.
struct CallAttribute {
  std::string name;
  // In the words of a spec, as far as the value tells.
  std::string type;
  SourcePlace place;
};

// How a target is called: `ffi_call("name", …)(x, y, eps=np.float32(1))`.
struct TargetCall {
  // All of it is known.
  bool known = false;
  std::uint32_t arguments = 0;
  std::vector<CallAttribute> attributes;
  SourcePlace place;
};

// A stage of a bundle, and the handler for it.
struct StageHandler {
  std::string stage;
  std::string symbol;
};

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
  // C++ name of the handler of the last stage, or the name that Python takes from a library.
  PlacedName symbol;
  // 0 untyped, 1 typed, -1 not said.
  int api_version = -1;
  // Python registers names that come from a table when the code runs: then `api_version` is that of
  // the table's targets.
  bool from_table = false;
  // `typed`, `untyped`, or empty: what the code behind it is.
  std::string handler_kind;
  // Of a bundle, those that are registered.
  std::vector<StageHandler> stages;
  // It is one only if its function is a handler that the tree defines.
  bool if_handler = false;
  // Of a look-up.
  TargetCall call;
  std::vector<std::string> traits;
  BuildCondition when;
  std::string macro;
  SourcePlace place;
};

// `XLA_FFI_REGISTER_HANDLER`, and tables of handlers (`d["x"] = EncapsulateFfiHandler(H)`), also of
// those that are tables of stages.
void read_targets_cpp(const SourceUnit& unit, const Invocations& found,
                      std::vector<TargetRecord>& records);
// `jax.ffi.register_ffi_target` and its forerunners, `ffi_call`.
void read_targets_python(const std::vector<PythonRegistration>& registrations,
                         std::string_view text, std::uint32_t file,
                         std::vector<TargetRecord>& records);

// Writes `handlers`, `targets`, and `dispatch` with the names that are asked for if all that could
// be registered is known. Needs: an open document.
void write_targets(const std::vector<TargetRecord>& records,
                   const std::vector<HandlerRecord>& handlers, bool partial, PlacedWriter& writer);

}  // namespace opseal
