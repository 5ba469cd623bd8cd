#pragma once

#include <string_view>
#include <vector>

#include "opseal/dtypes.h"
#include "opseal/platforms.h"
#include "rules/dtype_words.h"

namespace opseal {

// What the kernels of one registration take on one platform.
struct PlatformDtypes {
  struct Taken {
    const Dtype* dtype = nullptr;
    Fact text;
  };

  Platform platform;
  // As written; an absent fact for an operator that says its dtypes without kernels.
  Fact written;
  // Every kernel of the platform says what it takes.
  bool complete = true;
  // Each dtype once.
  std::vector<Taken> taken;
  // Asked for, and said no: left out on purpose.
  std::vector<const Dtype*> refused;
  // The first list.
  Fact words;

  bool takes(const Dtype& dtype) const;
  bool refuses(const Dtype& dtype) const;
};

// Platforms of the kernels of an operator, or one that reaches every platform where it has no
// kernels and its operands say dtypes. Empty for more platforms and dtypes than any registry has.
std::vector<PlatformDtypes> platform_dtypes(const Fact& manifest, const Fact& op,
                                            DtypeWords& words);

}  // namespace opseal
