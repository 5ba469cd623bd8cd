#pragma once

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

namespace opseal::test {

using Json = nlohmann::ordered_json;
using Random = std::mt19937;

// A mistake that somebody can make in registering an operator.
struct Mistake {
  std::string rule;
  std::string what;
  // Changes the operator and returns true, or returns false where the facts are not there.
  bool (*make)(Json& op, Random& random);
  // Reported once for the whole manifest.
  bool whole_manifest = false;
};

// Of the `jvp-*` and `etp-*` rules.
const std::vector<Mistake>& mistakes();

}  // namespace opseal::test
