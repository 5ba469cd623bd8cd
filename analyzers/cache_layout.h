#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/cache_description.h"
#include "analyzers/folder.h"
#include "opseal/facts.h"

namespace opseal {

// A text and where it was found: in one of the entry's text files, or, with file 0, in the name of
// the entry itself.
struct PlacedText {
  std::string text;
  // 1: the first of `CacheEntry::files`.
  std::uint32_t file = 0;
  // Bytes.
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

// What a cache directory says about one entry. Empty texts are not said.
struct CacheEntry {
  std::string directory;
  PlacedText name;
  PlacedText key;
  PlacedText recomputed_key;
  // File names inside the entry, or the entry itself where that is a file.
  PlacedText library;
  // Whether there is one under that name.
  bool library_there = false;
  std::vector<PlacedText> functions;
  std::vector<PlacedText> architectures;
  std::vector<PlacedText> source_files;
  // Files that the next four lists could not be told for are in none; `checked` says that the first
  // two are whole.
  bool checked = false;
  std::vector<PlacedText> missing;
  std::vector<PlacedText> damaged;
  std::vector<std::string> temporary;
  std::vector<PlacedText> elsewhere;
  // Of a build that may have ended without taking it away.
  std::string lock;
  // The text files that places point into; paths are inside the entry.
  std::vector<InputFile> files;
  // Why not everything of it could be read; empty when it could.
  std::string problem;
};

// One way in which programs lay out a cache on disk.
struct CacheLayout {
  // Of the cache, in findings.
  std::string_view name;
  // Whether a child of the cache directory is an entry, be it a broken one.
  bool (*claims)(const std::string& cache, std::string_view child);
  // Whether that child shows what layout the cache has. Needs: claimed.
  bool (*proves)(const std::string& cache, const std::string& child);
  // Reads the files of an entry. Needs: claimed. `settled`: no build is at work in it.
  void (*read)(const std::string& path, const std::vector<FolderItem>& items, bool settled,
               CacheEntry& entry);
  // Whether an item of the cache directory is what a build leaves behind when it is killed.
  bool (*is_temporary)(std::string_view child);
};

// `<name>_<16 hexadecimal digits>/<name>.so`.
extern const CacheLayout kernix_layout;
// `<base32 of a sha256>/__grp__<kernel>.json`.
extern const CacheLayout triton_layout;
// `<name>/build.ninja` as PyTorch writes it.
extern const CacheLayout torch_layout;

// The same for an entry of a cache that the configuration describes. `item` is the entry.
void read_described(const CacheDescription& description, const FolderItem& item, CacheEntry& entry);

// Items of one directory that are looked at, at most.
inline constexpr std::size_t most_cache_items = 200'000;
// Of one entry: real ones have a dozen.
inline constexpr std::size_t most_entry_items = 10'000;
// Bytes of a text file in an entry.
inline constexpr std::uint64_t most_entry_text = 1 << 20;

// The bytes of a text file in an entry; false for what is too large, no file, or a link, which may
// lead out of the cache.
bool read_entry_text(const std::string& path, std::string& bytes);

// Whether such a file starts with that text, however large it is.
bool entry_text_starts(const std::string& path, std::string_view start);

// What is said of a text file that is there and that `read_entry_text` didn't read.
std::string unread_text(std::string_view name);

// Notes that the library of an entry is there, and, where that can't be the work of a build that
// is still running, adds what is wrong with it to `entry.damaged`.
void check_library(const std::string& path, const FolderItem& item, bool settled,
                   CacheEntry& entry);

// Library endings of the systems that programs are built for: `.so`, `.dylib`, ...
bool has_library_ending(std::string_view name);

}  // namespace opseal
