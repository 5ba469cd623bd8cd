#pragma once

#include "opseal/rule.h"

namespace opseal {

// Kernels that stand in no table from which their registry is built, and how sure it is that they
// should.
enum class Unlisted {
  // The class is declared where the table is, as it is done for its rows, or no kernel of the
  // operator is listed for the platform.
  declared,
  // Only others of the operator are listed.
  beside_others,
};

// Reports the kernels of one kind.
void check_unlisted_kernels(const Facts& facts, Unlisted kind, Sink& sink);

}  // namespace opseal
