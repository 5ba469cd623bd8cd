#pragma once

#include "opseal/registration.h"
#include "rules/dtype_words.h"

namespace opseal {

// The list of dtypes that an operator promises for its first operand, which is the one that a
// kernel's plain `dtypes` speak of: those of the operand itself, of the type variable that it
// names, or of the only variable there is. Not said where none of these is, or is partly unread.
inline Fact declared_dtypes(const Fact& op) {
  const Fact variables = op[Key::type_constraints];
  Fact list;
  if (const Fact inputs = op[Key::inputs]; inputs.is_list()) {
    for (const Fact operand : inputs.items()) {
      list = operand[Key::dtypes];
      if (!list.is_list() && operand[Key::type].is_text()) {
        list = variables.at(operand[Key::type].text());
      }
      break;
    }
  } else if (variables.size() == 1) {
    for (const EntryRange::Entry entry : variables.entries()) list = entry.value;
  }
  return list.size() > 0 && all_read(list) ? list : Fact();
}

// What a kernel says about the first operand: its `dtypes`, or the first word of each signature.
// Calls `visit(text)` for each; false where it says neither, or in part.
template <typename Visit>
bool for_each_first_dtype(const Fact& kernel, Visit visit) {
  const Fact dtypes = kernel[Key::dtypes];
  const Fact signatures = kernel[Key::signatures];
  if (!dtypes.is_list() && !signatures.is_list()) return false;
  if (dtypes.said() && !all_dtypes_read(dtypes)) return false;
  if (signatures.said() && !all_dtypes_read(signatures)) return false;
  for (const Fact text : dtypes.items()) visit(text);
  for (const Fact signature : signatures.items()) {
    for (const Fact text : signature.items()) {
      visit(text);
      break;
    }
  }
  return true;
}

}  // namespace opseal
