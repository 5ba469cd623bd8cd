#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/mutants/registry.h"

namespace opseal::test {

// What one mistake came to in one registry.
struct Tally {
  std::string rule;
  std::string what;
  std::string registry;
  std::size_t made = 0;
  std::size_t found = 0;
  // The items in which the rule did not see it.
  std::vector<std::string> missed;
  // Other rules of the default profile -> in how many copies they said something new.
  std::map<std::string, std::size_t> disturbed;
};

// Makes each mistake whose rule begins with `family` wherever the registry holds the facts, one
// mistake a copy, in up to `most_places` places chosen by a fixed seed.
std::vector<Tally> make_mistakes(const Registry& registry, const std::vector<Mistake>& mistakes,
                                 std::string_view family, std::size_t most_places);

}  // namespace opseal::test
