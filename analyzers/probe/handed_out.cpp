#include "analyzers/probe/handed_out.h"

#include <algorithm>

namespace opseal::ffi {

HandedOut& handed_out() {
  static HandedOut all;
  return all;
}

void* find_handed_out(const std::string& name, std::string& error) {
  const HandedOut& all = handed_out();
  const auto found = std::find_if(all.handlers.begin(), all.handlers.end(),
                                  [&name](const HandedHandler& one) { return one.name == name; });
  if (found != all.handlers.end()) {
    return all.functions[static_cast<std::size_t>(found - all.handlers.begin())];
  }
  error = all.problem.empty() ? "no imported module hands out `" + name + '`' : all.problem;
  return nullptr;
}

}  // namespace opseal::ffi
