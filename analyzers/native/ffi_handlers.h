#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/native/host_links.h"

namespace opseal {

// What an XLA FFI handler binds, recovered from the name of its C++ type.
struct FfiOperand {
  enum class Kind : std::uint8_t { buffer, token, remaining, other };
  Kind kind = Kind::buffer;
  // As XLA spells it: `F32`. Empty: any.
  std::string dtype;
  // -1: any.
  std::int64_t rank = -1;
  bool optional = false;
  // The demangled C++ type, for people.
  std::string type;
};

struct FfiSignature {
  // instantiate, prepare, initialize, execute, record
  std::string stage;
  std::vector<FfiOperand> arguments;
  std::vector<FfiOperand> results;
  // Types of attributes in the language of specs (`float32`, `string`, `span<int64>`,
  // `dictionary`); their names are not in a type.
  std::vector<std::string> attributes;
  // `stream`, `scratch`, `thread_pool`, `state<T>`, `user_data<T>`, `run_id`, `device_ordinal`,
  // `context`, ...
  std::vector<std::string> contexts;
  // Of the user's function, as C++ writes it: `xla::ffi::Error`, `xla::ffi::Future`. Empty: it is
  // no plain function, and its type doesn't tell.
  std::string returns;
  // Header API versions that make such a type, `0.1`: the least and the greatest. Empty: as new as
  // one likes.
  std::string version_min;
  std::string version_max;
};

struct FfiHandler {
  // The exported symbol; empty for a handler that the file holds and doesn't export.
  std::string_view symbol;
  FfiSignature signature;
  // Where its function begins, as an address; 0 where no symbol tells.
  std::uint64_t address = 0;
  // Bytes of the file: the symbol's table entry, or the type's name.
  std::uint64_t offset = 0;
  // Other signatures that the symbol's code leads to as well: then it is not sure which one is its
  // own.
  bool ambiguous = false;
  // Of a handler that is not exported, in a file that is not stripped: the name that its function
  // has in the symbol table (hidden visibility, for example).
  std::string_view local_symbol;
};

// Parses one RTTI type name (`N3xla3ffi7HandlerI...`). False where it is none.
bool parse_handler_type(std::string_view mangled, FfiSignature& signature);

// Every handler: exported ones with their symbols, those that only the symbol table names, and the
// types that no symbol leads to (handed out by a module, for example), each once. Sees no types
// that were built without RTTI, and leads no symbols to types where the loader fills in no pointers
// (programs at a fixed address) or the machine is neither x86-64 nor AArch64. Throws InputError.
std::vector<FfiHandler> find_ffi_handlers(HostCode& code,
                                          const std::vector<ElfSymbol>& dynamic_symbols);

// Whether any handler's type name is there: cheap, to be asked before the code is walked.
bool mentions_ffi_handlers(const Elf& elf);

}  // namespace opseal
