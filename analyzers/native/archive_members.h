#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzers/native/byte_reader.h"

namespace opseal {

// One member of an `ar` archive (`.a`).
struct ArchiveMember {
  std::string name;
  // Empty in a thin archive, whose members are files beside it.
  Bytes bytes;
  // The member's header, in bytes of the file.
  std::uint64_t offset = 0;
};

struct ArchiveListing {
  bool thin = false;
  std::vector<ArchiveMember> members;
};

// GNU and BSD long names; the symbol index and the table of names are no members. Throws
// InputError.
ArchiveListing list_archive(const Bytes& file);

}  // namespace opseal
