#pragma once

namespace opseal {

// The library's own functions ask the locale, and break on negative bytes.

inline bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

// Lower-case hexadecimal digits, as digests are written.
inline bool is_hex(char byte) { return is_digit(byte) || (byte >= 'a' && byte <= 'f'); }

}  // namespace opseal
