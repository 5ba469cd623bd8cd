#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/probe/sandbox.h"

// What goes through the pipes between the pool and a child: frames, each a header and so many
// bytes. Both ends are the same program, so numbers go as they are in memory.

namespace opseal {

enum class FrameKind : std::uint32_t {
  setup = 1,  // to the child, once: how it shuts itself in
  question,
  ready,  // from the child, once, before it runs anything that nobody trusts: what it lacks
  answer,
  last_words,
};

struct FrameHeader {
  FrameKind kind = FrameKind::setup;
  // Of processor time, of a question.
  std::uint32_t seconds = 0;
  // Chosen by chance for each question, and said again with its answer: what code writes that was
  // not told it is no answer to anything.
  std::uint64_t key = 0;
  std::uint64_t length = 0;
};

// With its header not more than a pipe takes as a whole, whoever else writes.
inline constexpr std::size_t most_last_words = 4096 - sizeof(FrameHeader);

std::string frame(FrameHeader header, std::string_view bytes);

// The header at the front of these bytes. Nothing: they are too few.
std::optional<FrameHeader> header_of(std::string_view bytes);

// How a child shuts itself in.
std::string encode(const SandboxOptions& setup);
SandboxOptions decode_setup(std::string_view bytes);

// Texts without line ends, which such lines as `enter_sandbox` returns don't hold.
std::string encode_lines(const std::vector<std::string>& lines);
std::vector<std::string> decode_lines(std::string_view bytes);

}  // namespace opseal
