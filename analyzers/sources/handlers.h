#pragma once

#include <string>
#include <vector>

#include "analyzers/source/invocations.h"
#include "analyzers/sources/declarations.h"
#include "analyzers/sources/records.h"

namespace opseal {

// A handler of XLA's FFI, as `XLA_FFI_DEFINE_HANDLER` and its relatives define one.
struct HandlerRecord {
  PlacedName symbol;
  // The implementation.
  SourceFunction function;
  // What its parameters are, each a word of a spec; `?` where the type doesn't tell.
  std::vector<std::string> parameters;
  // `spec` is all that it binds.
  bool bound = false;
  std::vector<std::string> spec;
  // Empty where it isn't said.
  std::string stage;
  std::vector<std::string> traits;
  BuildCondition when;
  std::string macro;
  SourcePlace place;
};

void read_handlers_cpp(const SourceUnit& unit, const Invocations& found,
                       std::vector<HandlerRecord>& records);

// Fills in what the implementation takes, as far as its declarations agree.
void complete_handler(HandlerRecord& handler, const Declarations& declarations,
                      const std::vector<std::string>& paths);

}  // namespace opseal
