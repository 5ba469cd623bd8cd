#pragma once

#include <utility>
#include <vector>

#include "tests/mutants/mistake.h"

namespace opseal::test {

// Gradients and batching.
std::vector<Mistake> gradient_mistakes();
// Eligibility-trace rules.
std::vector<Mistake> etp_mistakes();
// Names, platforms, backends and what is registered under them.
std::vector<Mistake> registration_mistakes();
// Targets handed to a framework, and their argument specs.
std::vector<Mistake> target_mistakes();
// Dtypes, predicates and dispatch tables.
std::vector<Mistake> dispatch_mistakes();
std::vector<Mistake> cache_mistakes();

inline std::vector<Mistake> all_mistakes() {
  std::vector<Mistake> all;
  for (const auto family : {gradient_mistakes, etp_mistakes, registration_mistakes, target_mistakes,
                            dispatch_mistakes, cache_mistakes}) {
    for (Mistake& mistake : family()) all.push_back(std::move(mistake));
  }
  return all;
}

}  // namespace opseal::test
