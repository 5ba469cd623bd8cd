#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "opseal/facts.h"

namespace opseal {

// Writes facts in the order in which a reader meets them. Every reader uses it, so that there is
// one way for a fact to come into being. Offsets and lengths are bytes of the file that is being
// read.
class FactWriter {
 public:
  explicit FactWriter(Facts& facts) : facts_(facts) {}

  std::uint32_t next() const { return static_cast<std::uint32_t>(facts_.nodes.size()); }

  // A leaf.
  void add(Key key, NodeType type, std::uint32_t value, std::uint64_t offset, std::uint64_t length);
  void add_text(Key key, std::string_view text, std::uint64_t offset, std::uint64_t length);
  void add_real(Key key, double value, std::uint64_t offset, std::uint64_t length);

  // A container that is open until `close`; containers close in the reverse order of opening.
  std::uint32_t open(Key key, NodeType type, std::uint64_t offset);
  void close(std::uint32_t container, std::uint64_t end_offset);

  // Takes back everything from a node on.
  void drop(std::uint32_t from);

  // Nodes of one run, at most: indexes have 32 bits.
  static constexpr std::uint32_t max_nodes = 0xfffffff0;

 private:
  // Needs: longer than `Node::max_length`.
  void keep_length(std::uint32_t index, std::uint64_t length);

  Facts& facts_;
  // The text that stood last under each key. Most repeat: files, platforms, backends.
  std::array<Name, static_cast<std::size_t>(Key::key_count)> last_{};
};

}  // namespace opseal
