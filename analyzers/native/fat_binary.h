#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/native/device_images.h"

namespace opseal {

// One image as its container holds it: compressed, or as it is.
struct FatEntry {
  ImageKind kind = ImageKind::other;
  Compression compression = Compression::none;
  Bytes stored;
  // Bytes after decompression, as the entry states them; 0 where it is not compressed.
  std::uint64_t plain_size = 0;
  // `sm_90a`
  std::string architecture;
  // `9.0`
  std::string version;
  // The entry with its header, in bytes of the file.
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

// A stretch of a file in which containers may lie.
struct FatRegion {
  Bytes bytes;
  std::string_view section;
  // Made to hold containers and nothing else, so that whatever else lies there is damage. Elsewhere
  // bytes that only look like one are nothing.
  bool dedicated = false;
  // Where the file that counts for alignment begins, in bytes of the file that is read: members of
  // an archive stand at any even place.
  std::uint64_t start = 0;
};

// Adds the containers of a region to `images`, with an image for each entry, and what is needed to
// read those to `entries`, as many as were added. `file`: for the places of problems.
void list_containers(const FatRegion& region, std::uint32_t file, DeviceImages& images,
                     std::vector<FatEntry>& entries);

// `sm_90a`; `flags` are those of an entry.
std::string architecture_name(std::uint32_t number, std::uint64_t flags);

}  // namespace opseal
