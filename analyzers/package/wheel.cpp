// Formats: PyPA's "binary distribution format", "core metadata" and "recording installed projects".

#include <algorithm>
#include <array>
#include <cstdint>

#include "analyzers/package/distribution.h"
#include "analyzers/package/fields.h"

namespace opseal {
namespace {

// A tag set stands for every combination of its parts: `py2.py3-none-any`.
void expand_tags(std::string_view set, std::vector<std::string>& tags) {
  // Hostile names could stand for billions.
  constexpr std::size_t most_tags = 1024;
  const std::vector<std::string_view> parts = split(set, '-');
  if (parts.size() != 3) return;
  for (const std::string_view python : split(parts[0], '.')) {
    for (const std::string_view abi : split(parts[1], '.')) {
      for (const std::string_view platform : split(parts[2], '.')) {
        if (tags.size() == most_tags) return;
        tags.push_back(std::string(python) + '-' + std::string(abi) + '-' + std::string(platform));
      }
    }
  }
}

void sort_once(std::vector<std::string>& tags) {
  std::sort(tags.begin(), tags.end());
  tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
}

// The bytes of base64 with the alphabet for addresses, without padding, as hexadecimal digits.
// Empty where it is none.
std::string hex_of_base64(std::string_view text) {
  constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string out;
  std::uint32_t bits = 0;
  int held = 0;
  while (text.ends_with('=')) text.remove_suffix(1);
  for (const char byte : text) {
    const std::size_t value = alphabet.find(byte);
    if (value == alphabet.npos) return {};
    bits = (bits << 6 | static_cast<std::uint32_t>(value)) & 0xfff;
    held += 6;
    while (held >= 4) {
      held -= 4;
      out += "0123456789abcdef"[bits >> held & 15];
    }
  }
  // What the last character has beyond whole bytes.
  if (out.size() % 2 != 0) out.pop_back();
  return out;
}

// A field of comma-separated values, in quotes where it holds a comma. Moves `line` behind it.
std::string take_field(std::string_view& line) {
  std::string out;
  if (!line.starts_with('"')) {
    const std::size_t end = std::min(line.find(','), line.size());
    out = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    return out;
  }
  line.remove_prefix(1);
  while (!line.empty()) {
    const char byte = line.front();
    line.remove_prefix(1);
    if (byte != '"') {
      out += byte;
    } else if (line.starts_with('"')) {
      out += byte;
      line.remove_prefix(1);
    } else {
      break;
    }
  }
  if (line.starts_with(',')) line.remove_prefix(1);
  return out;
}

}  // namespace

bool read_wheel_name(std::string_view file_name, Distribution& distribution) {
  if (!file_name.ends_with(".whl")) return false;
  file_name.remove_suffix(4);
  const std::vector<std::string_view> parts = split(file_name, '-');
  if (parts.size() != 5 && parts.size() != 6) return false;
  distribution.name = parts[0];
  distribution.version = parts[1];
  const std::size_t behind =
      parts[0].size() + parts[1].size() + (parts.size() == 6 ? parts[2].size() + 3 : 2);
  distribution.tags.clear();
  expand_tags(file_name.substr(behind), distribution.tags);
  sort_once(distribution.tags);
  return true;
}

std::vector<std::string> wheel_tags(std::string_view text) {
  std::vector<std::string> tags;
  for_each_field(text, [&tags](std::string_view name, std::string_view value) {
    if (name == "Tag") expand_tags(value, tags);
  });
  sort_once(tags);
  return tags;
}

void read_wheel_metadata(std::string_view text, Distribution& distribution) {
  for_each_field(text, [&distribution](std::string_view name, std::string_view value) {
    if (name == "Name") distribution.name = value;
    if (name == "Version") distribution.version = value;
    if (name == "Requires-Dist") distribution.requirements.emplace_back(value);
  });
}

std::vector<Distribution::File> read_wheel_record(std::string_view text) {
  std::vector<Distribution::File> files;
  for (std::string_view line : split(text, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    Distribution::File file;
    file.path = take_field(line);
    const std::string digest = take_field(line);
    constexpr std::string_view sha256 = "sha256=";
    if (digest.starts_with(sha256)) {
      const std::string hex = hex_of_base64(std::string_view(digest).substr(sha256.size()));
      if (hex.size() == 64) file.digest = "sha256:" + hex;
    }
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace opseal
