#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace opseal {

// Both from 1.
struct YamlPlace {
  int line = 1;
  int column = 1;
};

// What keeps a YAML text from being read.
class YamlError : public std::runtime_error {
 public:
  YamlError(YamlPlace at, const std::string& message) : std::runtime_error(message), place(at) {}

  YamlPlace place;
};

// A value of a YAML text. Scalars stay texts: which of them are numbers or truth values is the
// reader's business.
struct YamlValue {
  enum class Kind { null, scalar, list, map };

  Kind kind = Kind::null;
  std::string text;
  YamlPlace place;
  // Elements of a list; of a map, each key followed by its value.
  std::vector<YamlValue> items;

  // The value under a key of a map, or nullptr.
  const YamlValue* at(std::string_view key) const;
  // The text of the scalar under a key, or nothing.
  std::string_view text_at(std::string_view key) const;
};

// Bytes of a YAML text, of a line and values in it, at most; levels of lists and maps, at most.
// yaml-cpp holds some hundred times as many bytes as it has read ahead.
inline constexpr std::size_t max_yaml_bytes = std::size_t{4} << 20;
inline constexpr std::size_t max_yaml_line_bytes = std::size_t{1} << 20;
inline constexpr std::size_t max_yaml_values = 1'000'000;
inline constexpr std::size_t max_yaml_depth = 32;

// Reads a text of one document. Refuses what would make reading unbounded, and aliases, behind
// which a small text can hide a huge one. The keys of every map are scalars, and each stands there
// once. Throws YamlError.
YamlValue read_yaml(const std::string& text);

}  // namespace opseal
