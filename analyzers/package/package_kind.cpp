#include "analyzers/input_error.h"
#include "analyzers/package/archive_reader.h"
#include "analyzers/package/member_paths.h"
#include "analyzers/package/package.h"

namespace opseal {
namespace {

constexpr std::string_view zip_magic = "PK\x03\x04";
constexpr std::string_view debian_magic = "!<arch>\ndebian-binary";
constexpr std::string_view tar_magic = "ustar";
constexpr std::size_t tar_magic_at = 257;

bool is_compressed(std::string_view head) {
  // gzip, bzip2, xz, zstd, LZ4: all that ArchiveReader decompresses.
  for (const std::string_view magic : {"\x1f\x8b", "BZh",
                                       "\xfd"
                                       "7zXZ",
                                       "\x28\xb5\x2f\xfd", "\x04\x22\x4d\x18"}) {
    if (head.starts_with(magic)) return true;
  }
  return false;
}

bool may_be_package(std::string_view head) {
  return head.starts_with(zip_magic) || is_compressed(head) ||
         (head.size() > tar_magic_at && head.substr(tar_magic_at).starts_with(tar_magic));
}

// A member that makes an archive worth reading.
bool tells_package(std::string_view path) {
  if (is_named_like_library(path)) return true;
  if (path == "info/index.json") return true;
  const std::size_t slash = path.find('/');
  if (slash == path.npos) return path.starts_with("pkg-") && path.ends_with(".tar.zst");
  return path.substr(0, slash).ends_with(".dist-info") && path.substr(slash) == "/WHEEL";
}

enum class Listing : std::uint8_t { package, other, damaged };

Listing list(ByteSource& source, ArchiveShape shape) {
  // Behind so many bytes the answer is not worth more time.
  constexpr ArchiveLimits limits{.total_size = std::uint64_t{256} << 20};
  bool any = false;
  try {
    ArchiveReader archive(source, shape, limits);
    for (ArchiveEntry entry; archive.next(entry); any = true) {
      if (tells_package(entry.path)) return Listing::package;
    }
  } catch (const InputError&) {
    // Not told here: who reads the file meets it again.
    return any && shape != ArchiveShape::zip_from_start ? Listing::package : Listing::damaged;
  }
  return Listing::other;
}

}  // namespace

bool confirms_package(ByteSource& source) {
  char head[zip_magic.size()] = {};
  const std::size_t size = source.read(head, sizeof head);
  if (!source.move_to(0)) return false;
  if (std::string_view(head, size) != zip_magic) {
    return list(source, ArchiveShape::tar) == Listing::package;
  }
  const Listing listing = list(source, ArchiveShape::zip);
  if (listing != Listing::damaged) return listing == Listing::package;
  // Without its table of members it may still show by its first ones that it was a package.
  if (!source.move_to(0)) return false;
  return list(source, ArchiveShape::zip_from_start) == Listing::package;
}

Accepts accepts_package(std::string_view head, bool whole) {
  if (head.starts_with(debian_magic)) return Accepts::yes;
  if (!may_be_package(head)) return Accepts::no;
  if (!whole) return Accepts::look_further;
  ByteSource source = ByteSource::memory(head);
  return confirms_package(source) ? Accepts::yes : Accepts::no;
}

}  // namespace opseal
