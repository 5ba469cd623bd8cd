#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/probe/ffi_question.h"
#include "analyzers/probe/pool.h"

namespace opseal {

// Children for handlers that modules of Python hand out: an interpreter imports the modules, and
// then loads the child's side of the pool as a library that the program carries.

// Not for users: how the program starts itself.
inline constexpr std::string_view handed_child_argument = "--handed-child";

// `PYTHON MODULE...`: becomes the interpreter. Comes back, with an exit status, only where that
// fails.
int run_handed_child(std::span<char* const> arguments);

// What a pool of such children needs. `python`: a path.
PoolOptions handed_pool(const std::string& program, const std::string& python,
                        const std::vector<std::string>& modules);

// What modules hand out, as such a child says.
struct HandedListing {
  std::vector<ffi::HandedHandler> handlers;
  // Why nothing, or not everything, could be had; empty: it is all there is.
  std::string problem;
};

HandedListing list_handed(const PoolOptions& pool);

}  // namespace opseal
