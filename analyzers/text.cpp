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

std::string quote(std::string_view text) {
  if (text.size() <= longest_quote) return '`' + visible(text) + '`';
  std::size_t end = longest_quote;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return '`' + visible(text.substr(0, end)) + "\u2026`";
}

std::string visible(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const std::size_t length = utf8_length(text, at);
    // U+0080 to U+009F are control characters too, C2 80 to C2 9F in UTF-8.
    const bool control =
        byte < 0x20 || byte == 0x7f ||
        (byte == 0xc2 && length == 2 && static_cast<unsigned char>(text[at + 1]) < 0xa0);
    if (length != 0 && !control) {
      out += text.substr(at, length);
      at += length;
      continue;
    }
    out += "\\x";
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
    ++at;
  }
  return out;
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

}  // namespace opseal
