#pragma once

#include <cstdint>
#include <string>

namespace opseal {

// Appends the character's UTF-8; nothing for what lies beyond Unicode (above 0x10ffff).
inline void append_utf8(std::string& text, std::uint32_t code) {
  const auto byte = [&text](std::uint32_t bits) { text += static_cast<char>(bits); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xc0 | code >> 6);
    byte(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    byte(0xe0 | code >> 12);
    byte(0x80 | (code >> 6 & 0x3f));
    byte(0x80 | (code & 0x3f));
  } else if (code < 0x110000) {
    byte(0xf0 | code >> 18);
    byte(0x80 | (code >> 12 & 0x3f));
    byte(0x80 | (code >> 6 & 0x3f));
    byte(0x80 | (code & 0x3f));
  }
}

}  // namespace opseal
