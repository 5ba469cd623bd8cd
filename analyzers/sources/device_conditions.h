#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyzers/source/tokens.h"
#include "analyzers/sources/device_launches.h"

namespace opseal {

// A name sounds like a capability of a device, or a question for it.
bool asks_capability(std::string_view word);

// A source in Python asks what a device is capable of.
bool python_asks_capability(std::string_view bytes);

// Finds what the functions and macros of one file ask of the device's capability.
class ConditionReader {
 public:
  // Adds the condition that names it, else the name. `tokens`: of the function or macro, `first`:
  // the index that its uses have for the first of them. Needs: the uses are sorted.
  void read(Tokens tokens, std::uint32_t first, NamingCode& code);

 private:
  // By hash of the name.
  std::unordered_map<std::uint32_t, bool> asks_;
};

// Of the launches of these kernels (by hash of the name): what is asked on the way to them, by the
// function, by what it names, and by all that call it. Gives the names of the functions on those
// ways where nothing is asked, so that more files can be read and all be joined again.
std::vector<std::string> join_conditions(const std::vector<LaunchCode*>& codes,
                                         const std::unordered_set<std::uint32_t>& kernels);

}  // namespace opseal
