#pragma once

#include <string_view>
#include <vector>

#include "opseal/dtypes.h"

namespace opseal {

// Which dtypes a device kernel is for, as far as its name in the Itanium C++ ABI carries them: by
// its template arguments (`mv<float, 4>`), what its parameters point to, and the words of its name
// (`mv_f16`).
struct KernelDtypes {
  // It may be for a dtype that isn't spoken of: it has a `void*`, a type argument or pointee of no
  // known dtype (`AddOp`, `Params*`), an enumerator that may stand for a dtype, or a name that
  // can't be read or, being C's, says nothing of parameters.
  bool unclear = false;
  // Something of it is for a dtype, and nothing is unclear.
  bool clear = false;
  // Everything that is spoken of, also inside of other types, each once.
  std::vector<const Dtype*> all;
  // The function's own template arguments by position; nullptr for what is no dtype.
  std::vector<const Dtype*> arguments;
  // What its parameters point to.
  std::vector<const Dtype*> pointees;

  // It is, or may be, for values of that dtype: it speaks of it, or of whole numbers without a sign
  // of the same width, by which values are moved, or of a CUDA type for pairs of its halves.
  bool may_take(const Dtype& dtype) const;
};

KernelDtypes read_kernel_dtypes(std::string_view mangled);

}  // namespace opseal
