// Formats: the Debian policy manual, control files and their fields; `md5sums` as `dpkg` writes it.

#include "analyzers/package/distribution.h"
#include "analyzers/package/fields.h"

namespace opseal {

void read_debian_control(std::string_view text, Distribution& distribution) {
  for_each_field(text, [&distribution](std::string_view name, std::string_view value) {
    if (name == "Package") distribution.name = value;
    if (name == "Version") distribution.version = value;
    if (name == "Architecture") distribution.tags.emplace_back(value);
    if (name != "Depends" && name != "Pre-Depends") return;
    for (const std::string_view one : split(value, ',')) {
      if (!trim(one).empty()) distribution.requirements.emplace_back(trim(one));
    }
  });
}

std::vector<Distribution::File> read_debian_digests(std::string_view text) {
  constexpr std::size_t digits = 32;
  std::vector<Distribution::File> files;
  for (const std::string_view line : split(text, '\n')) {
    // The digits, two spaces, the path.
    if (line.size() <= digits + 2) continue;
    files.push_back(
        {std::string(line.substr(digits + 2)), "md5:" + std::string(line.substr(0, digits))});
  }
  return files;
}

}  // namespace opseal
