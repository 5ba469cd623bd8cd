#include "opseal/text.h"

#include <algorithm>
#include <numeric>

namespace opseal {
namespace {

constexpr std::size_t longest_quote = 120;

char lower_byte(char byte) {
  return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte + 32) : byte;
}

}  // namespace

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += separator;
    out += parts[i];
  }
  return out;
}

std::string escape(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t length = printable_length(text, at); length > 0) {
      out += text.substr(at, length);
      at += length;
      continue;
    }
    // All bytes of a sequence, so that none of them is taken for the start of another.
    for (std::size_t left = std::max<std::size_t>(1, utf8_length(text, at)); left > 0; --left) {
      const auto byte = static_cast<unsigned char>(text[at++]);
      out += "\\x";
      out += "0123456789abcdef"[byte >> 4];
      out += "0123456789abcdef"[byte & 15];
    }
  }
  return out;
}

std::string quote(std::string_view text) {
  std::size_t kept = 0;
  while (kept < text.size() && kept < longest_quote) {
    kept += std::max<std::size_t>(1, utf8_length(text, kept));
  }
  return '`' + escape(text.substr(0, kept)) + (kept < text.size() ? "\u2026`" : "`");
}

std::string quote_list(std::span<const std::string> names, std::size_t most) {
  std::string out;
  const std::size_t shown = names.size() > most ? most : names.size();
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) out += i + 1 == names.size() ? " and " : ", ";
    out += quote(names[i]);
  }
  if (shown < names.size()) out += " and " + std::to_string(names.size() - shown) + " more";
  return out;
}

std::string plural(std::uint64_t number, std::string_view one, std::string_view many) {
  std::string out = std::to_string(number) + ' ';
  if (number == 1) return out.append(one);
  return many.empty() ? out.append(one) + 's' : out.append(many);
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, diagonal + (a[i] == b[j] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string_view nearest_name(std::string_view word, std::span<const std::string_view> candidates) {
  // Longer words are not misspelt names, and the distance table grows with the square.
  if (word.size() > 100) return {};
  const std::string wanted = lower(word);
  std::string_view best;
  std::size_t least = wanted.size() / 3 + 1;
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > 100) continue;
    const std::size_t distance = edit_distance(wanted, lower(candidate));
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates) {
  const std::string_view nearest = nearest_name(word, candidates);
  return nearest.empty() ? std::string() : "; did you mean " + quote(nearest) + "?";
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower_byte);
  return out;
}

bool glob_match(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = pattern.npos;
  std::size_t retry = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != pattern.npos) {
      p = star + 1;
      t = ++retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return at < text.size() ? 1 : 0;
  if (lead >= 0xc2 && lead < 0xe0) return follows(1) ? 2 : 0;
  if (lead >= 0xe0 && lead < 0xf0) {
    if (!follows(1) || !follows(2)) return 0;
    if (lead == 0xe0 && byte(1) < 0xa0) return 0;
    if (lead == 0xed && byte(1) >= 0xa0) return 0;
    return 3;
  }
  if (lead >= 0xf0 && lead < 0xf5) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    if (lead == 0xf0 && byte(1) < 0x90) return 0;
    if (lead == 0xf4 && byte(1) >= 0x90) return 0;
    return 4;
  }
  return 0;
}

std::size_t printable_length(std::string_view text, std::size_t at) {
  const std::size_t length = utf8_length(text, at);
  if (length == 1) return text[at] >= 0x20 && text[at] != 0x7f ? 1 : 0;
  const std::string_view sequence = text.substr(at, length);
  // U+0080 to U+009F: among them the one-character form of the escape sequences.
  if (length == 2) return sequence[0] != '\xc2' || sequence >= "\xc2\xa0" ? 2 : 0;
  if (length == 3) {
    const auto within = [&](std::string_view first, std::string_view last) {
      return sequence >= first && sequence <= last;
    };
    const bool hidden = within("\u200e", "\u200f") || within("\u2028", "\u202e") ||
                        within("\u2066", "\u2069") || sequence == "\ufeff";
    return hidden ? 0 : 3;
  }
  return length;
}

}  // namespace opseal
