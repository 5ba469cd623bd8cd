#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opseal {

// One thing that goes into a key. `{name}`, `{key}` and `{entry}` (path of the entry) in the value
// stand for those of the entry.
struct CachePart {
  enum class Kind : unsigned char {
    // The value itself.
    text,
    // The bytes of the file with that path.
    file,
    // The digest of those bytes in hexadecimal digits, by the hash of the cache.
    digest_of,
  };
  Kind kind = Kind::text;
  std::string value;
};

// A cache that `opseal.toml` describes (`[[cache]]`).
struct CacheDescription {
  std::string name;
  // Absolute.
  std::string directory;
  // What an entry is called: `{name}` stands for any text, `{key}` for `digits` lower-case
  // hexadecimal digits, both at most once. The rest stands for itself.
  std::string entry;
  // File name inside the entry; empty where nobody said.
  std::string library;
  // `exact`, `prefix`, or empty.
  std::string match;
  // `sha256` or `xxh128`.
  std::string hash = "sha256";
  std::size_t digits = 0;
  // Empty: nobody said what the key is made of.
  std::vector<CachePart> parts;
  // Paths of parts are relative to it; absolute.
  std::string base;
};

struct EntryNames {
  std::string name;
  std::string key;
};

// What the name of an entry says by such a pattern, or nothing when it doesn't match.
std::optional<EntryNames> match_entry(std::string_view pattern, std::size_t digits,
                                      std::string_view text);

// `digits` of a hash when nothing is cut off; 0 for a hash that opseal doesn't know.
std::size_t full_digits(std::string_view hash);

// The key of an entry, made again. Empty when the parts are not known, or one can't be read, which
// `problem` then tells. Needs: a known hash.
std::string recompute_key(const CacheDescription& description, const EntryNames& names,
                          const std::string& entry_path, std::string& problem);

// The text with `{name}`, `{key}` and `{entry}` replaced.
std::string fill_in(std::string_view text, const EntryNames& names, std::string_view entry_path);

}  // namespace opseal
