#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace opseal::test {

// A member of an archive to be made.
struct Member {
  // With a `/` at its end a directory.
  std::string path{};
  std::string bytes{};
  // Not empty: a symbolic link to there.
  std::string symbolic_link{};
  std::string hard_link{};
};

// Makes archives with libarchive, in memory. `format`: `zip`, `tar` or `ar`; `compression` of the
// whole: `none`, `gzip`, `bzip2`, `xz`, `zstd` or `lz4`. Options as libarchive spells them.
std::string make_archive(const std::vector<Member>& members, std::string_view format,
                         std::string_view compression = "none", const std::string& options = {},
                         const std::string& password = {});

// The least that is read as device code.
std::string ptx_module(std::string_view kernel);

}  // namespace opseal::test
