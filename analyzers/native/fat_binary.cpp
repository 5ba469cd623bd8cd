// A container of device images, as nvcc, clang and the tools of the CUDA toolkit write it; there is
// no public description, what follows was read off files that they made.
//
//   container  0 u32 magic, 4 u16 version (1), 6 u16 size of this header (16), 8 u64 size of all
//              entries; the next container begins at the next multiple of 8
//   entry      0 u16 kind, 2 u16 version, 4 u32 size of this header (64 and more), 8 u64 stored
//              bytes, 16 u32 compressed bytes without padding (0: all of them), 24 u16 minor and
//              26 u16 major version, 28 u32 architecture, 40 u64 flags, 56 u64 plain bytes (0: not
//              compressed); the stored bytes follow, then the next entry

#include "analyzers/native/fat_binary.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace opseal {
namespace {

constexpr std::uint32_t container_magic = 0xBA55ED50;
constexpr std::uint64_t container_header = 16;
constexpr std::uint64_t entry_header = 64;

// Flags of an entry.
constexpr std::uint64_t flag_lz4 = 0x2000;
constexpr std::uint64_t flag_zstd = 0x8000;
constexpr std::uint64_t flag_architecture_specific = 0x100000;
constexpr std::uint64_t flag_family_specific = 0x200000;

// Where the next magic number stands, aligned to 8 bytes from the start of the file; the end where
// there is none.
std::uint64_t find_magic(const FatRegion& region, std::uint64_t from) {
  const Bytes& bytes = region.bytes;
  const std::uint64_t misplaced = (bytes.offset() - region.start + from) % 8;
  std::uint64_t at = from + (8 - misplaced) % 8;
  const char* data = bytes.data();
  // Most of what is searched holds nothing: whole blocks are asked first, in a loop without a
  // branch, which compilers turn into wide comparisons.
  constexpr std::uint64_t block = 1024;
  while (bytes.holds(at, block)) {
    std::uint32_t words[block / 4];
    std::memcpy(words, data + at, block);
    std::uint32_t hit = 0;
    for (const std::uint32_t word : words) hit |= word == container_magic ? 1U : 0U;
    if (hit != 0) {
      for (std::uint64_t i = 0; i < block; i += 8) {
        if (words[i / 4] == container_magic) return at + i;
      }
    }
    at += block;
  }
  for (; bytes.holds(at, 8); at += 8) {
    if (bytes.u32(at) == container_magic) return at;
  }
  return bytes.size();
}

ImageKind kind_of(std::uint16_t number) {
  switch (number) {
    case 1:
      return ImageKind::ptx;
    case 2:
      return ImageKind::sass;
    case 8:
      return ImageKind::lto_ir;
    default:
      return ImageKind::other;
  }
}

FatEntry read_entry(const Bytes& rest) {
  const std::uint32_t header = rest.u32(4);
  const std::uint64_t stored = rest.u64(8);
  if (header < entry_header) {
    throw InputError(rest.offset(), entry_header,
                     "an entry with a header of " + std::to_string(header) + " bytes, at least " +
                         std::to_string(entry_header) + " are expected");
  }
  const Bytes payload =
      rest.from(header, "the header of an entry").part(0, stored, "an entry's image");
  const std::uint64_t flags = rest.u64(40);
  FatEntry entry;
  entry.kind = kind_of(rest.u16(0));
  entry.version = std::to_string(rest.u16(26)) + '.' + std::to_string(rest.u16(24));
  entry.architecture = architecture_name(rest.u32(28), flags);
  entry.offset = rest.offset();
  entry.length = header + stored;
  entry.stored = payload;
  const std::uint64_t plain = rest.u64(56);
  if (plain > 0 && (flags & (flag_zstd | flag_lz4)) != 0) {
    entry.compression = (flags & flag_zstd) != 0 ? Compression::zstd : Compression::lz4;
    entry.plain_size = plain;
    // The padding is no part of an LZ4 block.
    const std::uint32_t compressed = rest.u32(16);
    if (compressed > 0 && compressed < stored) entry.stored = payload.part(0, compressed, "");
  }
  return entry;
}

// What one container holds, and what is wrong with it.
struct Reading {
  std::vector<FatEntry> entries;
  std::optional<InputError> error;
};

Reading read_entries(const Bytes& container, std::uint64_t& left) {
  Reading reading;
  try {
    for (std::uint64_t at = container_header; at < container.size();) {
      if (left == 0) break;
      --left;
      const Bytes rest = container.from(at, "an entry");
      reading.entries.push_back(read_entry(rest));
      at += reading.entries.back().length;
    }
  } catch (const InputError& error) {
    reading.error = error;
  }
  return reading;
}

class Lister {
 public:
  Lister(const FatRegion& region, std::uint32_t file, DeviceImages& images,
         std::vector<FatEntry>& entries)
      : region_(region), file_(file), images_(images), entries_(entries) {}

  void run() {
    const Bytes& bytes = region_.bytes;
    std::uint64_t at = 0;
    while (at < bytes.size()) {
      const std::uint64_t found = find_magic(region_, at);
      if (region_.dedicated) look_at_gap(at, found);
      if (found >= bytes.size()) return;
      at = found + read_container(bytes.from(found, "a container"));
      if (left_ > 0 && told_ < most_told) continue;
      add_problem(bytes.offset() + at, bytes.size() - at,
                  "too many damaged containers, the rest is not read");
      return;
    }
  }

 private:
  // Returns how far the next search begins behind `rest`'s start.
  std::uint64_t read_container(const Bytes& rest) {
    if (!rest.holds(0, container_header)) {
      if (region_.dedicated) add_problem(rest.offset(), rest.size(), "a container is cut off");
      return 8;
    }
    const std::uint16_t version = rest.u16(4);
    const std::uint16_t header = rest.u16(6);
    const std::uint64_t size = rest.u64(8);
    if (version != 1 || header != container_header) {
      if (region_.dedicated) {
        add_problem(rest.offset(), container_header,
                    "a container of version " + std::to_string(version) + " with a header of " +
                        std::to_string(header) + " bytes, version 1 with 16 is expected");
      }
      return 8;
    }
    const bool whole = rest.holds(container_header, size);
    if (!whole && !region_.dedicated) return 8;
    const Bytes container =
        whole ? rest.part(0, container_header + size, "") : rest.from(0, "a container");
    Reading reading = read_entries(container, left_);
    if (left_ == 0) return 8;
    if (reading.error && !region_.dedicated) return 8;
    if (!whole) {
      add_problem(rest.offset(), rest.size(),
                  "a container of " + std::to_string(size) + " bytes, of which " +
                      std::to_string(rest.size() - container_header) + " are there");
    } else if (reading.error) {
      add_problem(reading.error->offset, reading.error->length, reading.error->what());
    }
    add(container, std::move(reading.entries));
    // A size that doesn't fit what lies there is no guide to the next container.
    return whole && !reading.error ? container.size() : 8;
  }

  void add(const Bytes& container, std::vector<FatEntry> entries) {
    // What is found behind damage may lie within an entry that was read before it.
    if (container.offset() < read_up_to_) return;
    if (!entries.empty()) read_up_to_ = entries.back().offset + entries.back().length;
    const std::uint32_t number = static_cast<std::uint32_t>(images_.containers.size());
    images_.containers.push_back({region_.section, container.offset(), container.size()});
    for (FatEntry& entry : entries) {
      DeviceImage image;
      image.kind = entry.kind;
      image.compression = entry.compression;
      image.architecture = entry.architecture;
      image.version = entry.version;
      image.container = number;
      image.offset = entry.offset;
      image.length = entry.length;
      images_.images.push_back(std::move(image));
      entries_.push_back(std::move(entry));
    }
  }

  // Linkers fill with zeros; anything else is a container that lost its beginning.
  void look_at_gap(std::uint64_t from, std::uint64_t to) {
    if (std::exchange(lost_, false)) return;
    const std::string_view gap = region_.bytes.view().substr(from, to - from);
    const std::size_t odd = gap.find_first_not_of('\0');
    if (odd == std::string_view::npos) return;
    add_problem(region_.bytes.offset() + from + odd, gap.size() - odd,
                "no container where one is expected");
  }

  void add_problem(std::uint64_t offset, std::uint64_t length, const std::string& message) {
    Problem problem;
    problem.where.file = file_;
    problem.where.offset = offset;
    problem.where.length =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(length, Location::max_length));
    problem.message = message;
    if (!region_.section.empty()) problem.message += " in `" + std::string(region_.section) + '`';
    images_.problems.push_back(std::move(problem));
    lost_ = true;
    ++told_;
  }

  const FatRegion& region_;
  std::uint32_t file_;
  DeviceImages& images_;
  std::vector<FatEntry>& entries_;
  std::uint64_t read_up_to_ = 0;
  // Entries that may still be looked at: containers that share a damaged end would read it again
  // each.
  std::uint64_t left_ = 1024 + region_.bytes.size() / entry_header * 4;
  static constexpr std::size_t most_told = 20;
  std::size_t told_ = 0;
  // A problem was told, which explains that the next container isn't where it should be.
  bool lost_ = false;
};

}  // namespace

std::string architecture_name(std::uint32_t number, std::uint64_t flags) {
  std::string name = "sm_" + std::to_string(number);
  if ((flags & flag_architecture_specific) != 0) {
    name += 'a';
  } else if ((flags & flag_family_specific) != 0) {
    name += 'f';
  }
  return name;
}

void list_containers(const FatRegion& region, std::uint32_t file, DeviceImages& images,
                     std::vector<FatEntry>& entries) {
  Lister(region, file, images, entries).run();
}

}  // namespace opseal
