#pragma once

#include <string>
#include <vector>

#include "analyzers/sources/records.h"

namespace opseal {

// An operator of torch as the sources of a tree define it: one for each schema that a name is
// defined with.
struct TorchOperator {
  TorchSpace space;
  std::string name;
  // The first of equal definitions, or null where none was seen.
  const TorchRecord* definition = nullptr;
  // The others depend on the same.
  bool one_condition = true;
  // Tells operators of one name apart where builds take one of them: the file that defines it.
  // Empty for the first.
  std::string identity;
  std::vector<const TorchRecord*> kernels;
  const TorchRecord* fake = nullptr;
  const TorchRecord* gradient = nullptr;
  // What is not here is nowhere: every definition (shape function, kernel) of the tree is known
  // that could be of this name.
  bool no_definition = false;
  bool no_fake = false;
  bool no_kernel = false;
};

struct TorchTable {
  std::vector<TorchOperator> operators;
  // Asked for by name, in a namespace whose operators are all known.
  std::vector<const TorchRecord*> lookups;
  // Keys with a kernel for everything, and the first place that says so.
  std::vector<const TorchRecord*> fallbacks;
  // Registrations whose name only the running code knows.
  std::vector<const TorchRecord*> undecided;
};

// Joins what files say. `partial`: others of the project were not read. `paths`: of the files, by
// number. Needs: the records outlive the table.
TorchTable join_torch(const std::vector<TorchRecord>& records,
                      const std::vector<std::string>& paths, bool partial);

}  // namespace opseal
