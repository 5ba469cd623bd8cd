#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "analyzers/byte_source.h"

namespace opseal {

// What an archive may ask for. Sizes in headers are lies until the bytes came, so what counts is
// what was unpacked.
struct ArchiveLimits {
  std::uint64_t members = 1'000'000;
  // Bytes.
  std::uint64_t member_size = std::uint64_t{4} << 30;
  std::uint64_t total_size = std::uint64_t{64} << 30;
  // Unpacked bytes for each byte of the file, held against archives that unpack to more than
  // `always_allowed`. Device code, most of whose bytes are padding, was seen to pack to a
  // fortieth.
  std::uint64_t ratio = 250;
  std::uint64_t always_allowed = std::uint64_t{1} << 30;
  // Bytes of all paths together, which readers keep.
  std::uint64_t names = std::uint64_t{1} << 28;
};

// A member as its header states it.
struct ArchiveEntry {
  enum class Kind : std::uint8_t { file, symbolic_link, hard_link, other };

  // As stated, without a `./` in front; may lead outside or be absolute.
  std::string path;
  Kind kind = Kind::file;
  // Of a link: relative to the link's folder, or for a hard link to the archive.
  std::string target;
  // Bytes, where the header says it.
  std::optional<std::uint64_t> size;
  bool encrypted = false;
};

enum class ArchiveShape : std::uint8_t {
  // By the table at the end of the file.
  zip,
  // By the headers in front of the members, which is all that a cut file has.
  zip_from_start,
  // Compressed or not.
  tar,
  // Only the format of Debian packages, which have no member but plain files.
  ar,
};

// Walks an archive from its first member to its last, in bounded memory and within the limits.
// Decompression is what libraries do: no other program is run. Every function throws InputError
// where the archive is damaged or goes beyond a limit, with what `libarchive` says of it.
class ArchiveReader {
 public:
  // Needs: the source outlives this and stands at its start.
  ArchiveReader(ByteSource& source, ArchiveShape shape, const ArchiveLimits& limits = {});
  // An archive that is the member at which another one stands; it counts to the limits of that.
  // Needs: `outer` outlives this and isn't moved on meanwhile.
  ArchiveReader(ArchiveReader& outer, ArchiveShape shape);
  ArchiveReader(ArchiveReader&&) noexcept;
  ~ArchiveReader();

  // Moves on; false at the end.
  bool next(ArchiveEntry& entry);
  // Up to `size` further bytes of the member; 0 at its end.
  std::size_t read(char* to, std::size_t size);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace opseal
