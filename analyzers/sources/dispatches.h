#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "analyzers/source/invocations.h"
#include "analyzers/source/vocabulary.h"
#include "analyzers/sources/records.h"

namespace opseal {

// The words under which C++ code of torch chooses by dtype.
const Vocabulary& dispatch_vocabulary();

// Names of a whole tree, each once: most functions call what others call too. Several threads may
// keep names at once.
class CalledNames {
 public:
  // As long as the pool lives.
  std::vector<std::string_view> keep(const std::vector<std::string>& names);

 private:
  std::mutex guard_;
  std::unordered_set<std::string> names_;
};

// A function with a body, as far as choosing by dtype goes.
struct FunctionBody {
  // With its classes, without its namespaces: `A::run`.
  std::string name;
  std::uint32_t file = 0;
  // What it calls, as written (`A::run`), each once, sorted; of a pool.
  std::vector<std::string_view> calls;
  std::vector<DispatchSite> sites;
  // Base names of the calls that get a tensor which it converted to another dtype, sorted.
  std::vector<std::string> converting;
};

// The functions of a source, those without calls and sites left out.
void read_bodies(const SourceUnit& unit, const Invocations& found, CalledNames& names,
                 std::vector<FunctionBody>& out);

}  // namespace opseal
