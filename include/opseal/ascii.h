#pragma once

namespace opseal {

// The library's own functions ask the locale, and break on negative bytes.

inline bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

// Lower-case hexadecimal digits, as digests are written.
inline bool is_hex(char byte) { return is_digit(byte) || (byte >= 'a' && byte <= 'f'); }

// The value of a hexadecimal digit of either case; 16 for what is none.
inline unsigned hex_value(char byte) {
  if (is_digit(byte)) return static_cast<unsigned>(byte - '0');
  if (byte >= 'a' && byte <= 'f') return static_cast<unsigned>(byte - 'a') + 10;
  if (byte >= 'A' && byte <= 'F') return static_cast<unsigned>(byte - 'A') + 10;
  return 16;
}

}  // namespace opseal
