#pragma once

#include <string>

#include "opseal/facts.h"

namespace opseal {

// How much of a registration's name is left when two systems' names are compared.
struct FoldedName {
  // The system writes namespace and name apart, and the namespace is some project's: `custom::rope`
  // is anybody's.
  bool project = false;
  // Nothing but letter case and separators was dropped.
  bool exact = false;
};

// Writes the spelling that all systems share into `key`: namespace and name in lower case without
// separators, so that torch's `mylib::rope_fwd`, XLA's `mylib_rope_fwd` and ONNX's `RopeFwd` of the
// domain `mylib` are `mylibropefwd`. What tells two operators of one name apart (torch's overloads
// other than `default`, the `_` of in-place variants, a private operator's leading `_`) stays.
// Empty for an item without a name.
FoldedName fold_name(const Fact& manifest, const Fact& item, bool target, std::string& key);

// The same with `package` in place of the namespace. False where the item says none.
bool fold_package_name(const Fact& manifest, const Fact& item, std::string& key);

// Lower case without separators: for names of attributes and operands.
std::string fold_word(std::string_view word);

}  // namespace opseal
