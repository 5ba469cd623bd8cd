#pragma once

#include <string>
#include <vector>

#include "analyzers/probe/ffi_question.h"

namespace opseal::ffi {

// Handlers that a module of Python hands out and no library exports: whoever imported the module
// puts them here, in the process that is to be asked about them.
struct HandedOut {
  std::vector<HandedHandler> handlers;
  // By place in `handlers`.
  std::vector<void*> functions;
  // Why nothing is handed out, or not all that was asked for; empty: it is.
  std::string problem;
};

HandedOut& handed_out();

// Null, and why: nobody hands it out.
void* find_handed_out(const std::string& name, std::string& error);

}  // namespace opseal::ffi
