#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzers/python/registrations.h"
#include "analyzers/source/invocations.h"
#include "analyzers/sources/placed_writer.h"
#include "analyzers/sources/records.h"

namespace opseal {

// A function in the global table of tvm-ffi.
struct TvmRecord {
  PlacedName name;
  // A symbol of its library, `__tvm_ffi_NAME`, and not a name of the table.
  bool exported = false;
  // It is asked for and not registered.
  bool lookup = false;
  bool python = false;
  // It says that it takes the place of another one.
  bool replaces = false;
  BuildCondition when;
  SourcePlace place;
};

// `refl::GlobalDef().def("ns.name", f)`, `TVM_REGISTER_GLOBAL("ns.name")`,
// `TVM_FFI_DLL_EXPORT_TYPED_FUNC(name, f)`.
void read_tvm_cpp(const SourceUnit& unit, const Invocations& found,
                  std::vector<TvmRecord>& records);
// `register_global_func`, `get_global_func`.
void read_tvm_python(const std::vector<PythonRegistration>& registrations, std::uint32_t file,
                     std::vector<TvmRecord>& records);

// Writes `operators`, and `dispatch` with the names that are asked for and are registered, or are a
// slip of one that is: others may be of another package. Needs: an open document.
void write_tvm(const std::vector<TvmRecord>& records, const std::vector<std::string>& paths,
               PlacedWriter& writer);

}  // namespace opseal
