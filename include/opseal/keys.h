#pragma once

#include <cstdint>
#include <iterator>
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

// Here and not in a source file: a reader asks for each key that it meets.
inline constexpr std::string_view key_texts[] = {
    "",
    "",
    "",
    "",
#define OPSEAL_KEY(enumerator, text) text,
#include "opseal/keys.def"
#undef OPSEAL_KEY
};
static_assert(std::size(key_texts) == static_cast<std::size_t>(Key::key_count));

constexpr std::string_view to_text(Key key) { return key_texts[static_cast<std::size_t>(key)]; }

}  // namespace opseal
