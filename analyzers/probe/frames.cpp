#include "analyzers/probe/frames.h"

#include <algorithm>
#include <cstring>

namespace opseal {
namespace {

struct SetupNumbers {
  std::uint64_t memory_limit = 0;
  std::uint64_t use_landlock = 0;
};

}  // namespace

std::string frame(FrameHeader header, std::string_view bytes) {
  header.length = bytes.size();
  std::string text(sizeof header, '\0');
  std::memcpy(text.data(), &header, sizeof header);
  text += bytes;
  return text;
}

std::optional<FrameHeader> header_of(std::string_view bytes) {
  FrameHeader header;
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}

std::string encode(const SandboxOptions& setup) {
  const SetupNumbers numbers{setup.memory_limit, setup.use_landlock ? 1U : 0U};
  std::string text(sizeof numbers, '\0');
  std::memcpy(text.data(), &numbers, sizeof numbers);
  return text + setup.scratch;
}

SandboxOptions decode_setup(std::string_view bytes) {
  SetupNumbers numbers;
  if (bytes.size() < sizeof numbers) return {};
  std::memcpy(&numbers, bytes.data(), sizeof numbers);
  SandboxOptions setup;
  setup.scratch = bytes.substr(sizeof numbers);
  setup.memory_limit = static_cast<std::size_t>(numbers.memory_limit);
  setup.use_landlock = numbers.use_landlock != 0;
  return setup;
}

std::string encode_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

std::vector<std::string> decode_lines(std::string_view bytes) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
    lines.emplace_back(bytes.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

}  // namespace opseal
