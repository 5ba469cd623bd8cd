#include "analyzers/cache_description.h"

#include <algorithm>
#include <filesystem>

#include "analyzers/folder.h"
#include "analyzers/sha256.h"
#include "opseal/digest.h"
#include "opseal/text.h"

namespace fs = std::filesystem;

namespace opseal {
namespace {

constexpr std::string_view name_mark = "{name}";
constexpr std::string_view key_mark = "{key}";
// Sources and headers are smaller, and a key is made for each entry.
constexpr std::uint64_t most_part_bytes = 64 << 20;

bool is_key(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char byte) {
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f');
  });
}

// Takes what a pattern without `{name}` stands for from the front of the text; its length is fixed.
bool take(std::string_view pattern, std::size_t digits, std::string_view& text, EntryNames& names) {
  const std::size_t mark = pattern.find(key_mark);
  const std::string_view before = pattern.substr(0, mark);
  if (!text.starts_with(before)) return false;
  text.remove_prefix(before.size());
  if (mark == pattern.npos) return true;
  if (text.size() < digits || !is_key(text.substr(0, digits))) return false;
  names.key = text.substr(0, digits);
  text.remove_prefix(digits);
  const std::string_view behind = pattern.substr(mark + key_mark.size());
  if (!text.starts_with(behind)) return false;
  text.remove_prefix(behind.size());
  return true;
}

std::size_t fixed_length(std::string_view pattern, std::size_t digits) {
  return pattern.find(key_mark) == pattern.npos ? pattern.size()
                                                : pattern.size() - key_mark.size() + digits;
}

std::string digest(std::string_view hash, std::string_view bytes) {
  if (hash == "xxh128") {
    ContentDigest xxh128;
    xxh128.add(bytes);
    return xxh128.hex();
  }
  Sha256 sha256;
  sha256.add(bytes);
  return sha256.hex();
}

}  // namespace

std::optional<EntryNames> match_entry(std::string_view pattern, std::size_t digits,
                                      std::string_view text) {
  EntryNames names;
  const std::size_t mark = pattern.find(name_mark);
  if (mark == pattern.npos) {
    if (!take(pattern, digits, text, names) || !text.empty()) return {};
    return names;
  }
  const std::string_view behind = pattern.substr(mark + name_mark.size());
  const std::size_t tail_length = fixed_length(behind, digits);
  if (text.size() < tail_length) return {};
  std::string_view tail = text.substr(text.size() - tail_length);
  text.remove_suffix(tail_length);
  if (!take(behind, digits, tail, names)) return {};
  if (!take(pattern.substr(0, mark), digits, text, names) || text.empty()) return {};
  names.name = text;
  return names;
}

std::size_t full_digits(std::string_view hash) {
  if (hash == "sha256") return 64;
  return hash == "xxh128" ? 32 : 0;
}

std::string fill_in(std::string_view text, const EntryNames& names, std::string_view entry_path) {
  const std::pair<std::string_view, std::string_view> marks[] = {
      {name_mark, names.name}, {key_mark, names.key}, {"{entry}", entry_path}};
  std::string out;
  while (!text.empty()) {
    const auto mark = std::find_if(std::begin(marks), std::end(marks), [&text](const auto& known) {
      return text.starts_with(known.first);
    });
    if (mark == std::end(marks)) {
      out += text.front();
      text.remove_prefix(1);
    } else {
      out += mark->second;
      text.remove_prefix(mark->first.size());
    }
  }
  return out;
}

std::string recompute_key(const CacheDescription& description, const EntryNames& names,
                          const std::string& entry_path, std::string& problem) {
  if (description.parts.empty() || names.key.empty()) return {};
  std::string all;
  for (const CachePart& part : description.parts) {
    const std::string value = fill_in(part.value, names, entry_path);
    if (part.kind == CachePart::Kind::text) {
      all += value;
      continue;
    }
    std::string bytes;
    if (!read_small_file((fs::path(description.base) / value).string(), most_part_bytes, bytes)) {
      problem = "key not made again: can't read " + quote(value);
      return {};
    }
    all += part.kind == CachePart::Kind::file ? bytes : digest(description.hash, bytes);
    if (all.size() > most_part_bytes) {
      problem = "key not made again: its parts are larger than 64 MiB";
      return {};
    }
  }
  return digest(description.hash, all).substr(0, description.digits);
}

}  // namespace opseal
