#pragma once

#include <cstdint>
#include <string_view>

namespace opseal {

// Every key that a fact can stand under. The words are those of the manifest format, since a
// manifest is how facts look when they are written down; readers of other inputs use the same
// words.
enum class Key : std::uint16_t {
  // The document itself, and the elements of a list.
  none,
  // Maps (platform -> backend) keep each entry as two facts: its name, then its value.
  entry_name,
  entry_value,
  // A key that begins with `x-`, kept as it was written and never judged.
  extension,
#define OPSEAL_KEY(enumerator, text) enumerator,
#include "opseal/keys.def"
#undef OPSEAL_KEY
  key_count
};

std::string_view to_text(Key key);

}  // namespace opseal
