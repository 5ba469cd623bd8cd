#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace opseal {

// What a package says of itself, in its own words.
struct Distribution {
  struct File {
    std::string path;
    // `sha256:...`, `md5:...`; empty: not said.
    std::string digest;
  };

  // As `distribution.kind` of a manifest.
  std::string kind = "archive";
  std::string name;
  std::string version;
  std::vector<std::string> tags;
  std::vector<std::string> requirements;
  std::vector<File> files;
};

// Wheels: the binary distribution format of Python packages, with the core metadata and the list of
// installed files that it takes over.

// `NAME-VERSION(-BUILD)?-PYTHON-ABI-PLATFORM.whl`; false for any other name. Sets name, version and
// tags, of which a name holds several at once: `cp311-cp311-linux_x86_64.manylinux1_x86_64`.
bool read_wheel_name(std::string_view file_name, Distribution& distribution);
// The tags of `*.dist-info/WHEEL`, one by one and sorted.
std::vector<std::string> wheel_tags(std::string_view text);
// `*.dist-info/METADATA`: name, version and requirements.
void read_wheel_metadata(std::string_view text, Distribution& distribution);
// `*.dist-info/RECORD`.
std::vector<Distribution::File> read_wheel_record(std::string_view text);

// Debian: `control` and `md5sums` of the control archive.
void read_debian_control(std::string_view text, Distribution& distribution);
std::vector<Distribution::File> read_debian_digests(std::string_view text);

// Conda: `info/index.json` and `info/paths.json`. False where it is no such JSON.
bool read_conda_index(std::string_view text, Distribution& distribution);
bool read_conda_paths(std::string_view text, Distribution& distribution);

}  // namespace opseal
