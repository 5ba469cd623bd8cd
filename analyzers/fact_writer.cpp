#include "analyzers/fact_writer.h"

#include <algorithm>

#include "analyzers/input_error.h"

namespace opseal {

void FactWriter::add(Key key, NodeType type, std::uint32_t value, std::uint64_t offset,
                     std::uint64_t length) {
  if (facts_.nodes.size() >= max_nodes) throw InputError(offset, length, "too many facts");
  Node node;
  node.set_place(offset, length);
  node.value = value;
  node.key = key;
  node.type = type;
  if (length > Node::max_length) keep_length(next(), length);
  facts_.nodes.push_back(node);
  if (type != NodeType::unread) facts_.said[static_cast<std::size_t>(key)] = true;
}

void FactWriter::add_text(Key key, std::string_view text, std::uint64_t offset,
                          std::uint64_t length) {
  Name& last = last_[static_cast<std::size_t>(key)];
  if (facts_.names.text(last) != text) last = facts_.names.intern(text);
  add(key, NodeType::text, last, offset, length);
}

void FactWriter::add_real(Key key, double value, std::uint64_t offset, std::uint64_t length) {
  facts_.reals.push_back(value);
  add(key, NodeType::real, static_cast<std::uint32_t>(facts_.reals.size() - 1), offset, length);
}

std::uint32_t FactWriter::open(Key key, NodeType type, std::uint64_t offset) {
  add(key, type, 1, offset, 0);
  return next() - 1;
}

void FactWriter::close(std::uint32_t container, std::uint64_t end_offset) {
  Node& node = facts_.nodes[container];
  node.value = next() - container;
  const std::uint64_t length = end_offset - node.offset();
  node.set_place(node.offset(), length);
  if (length > Node::max_length) keep_length(container, length);
}

void FactWriter::drop(std::uint32_t from) {
  facts_.nodes.shrink_to(from);
  std::vector<LongLength>& lengths = facts_.long_lengths;
  while (!lengths.empty() && lengths.back().node >= from) lengths.pop_back();
}

void FactWriter::keep_length(std::uint32_t index, std::uint64_t length) {
  std::vector<LongLength>& lengths = facts_.long_lengths;
  const auto shown =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(length, Location::max_length));
  // A container closes behind what it holds, so it belongs in front of that.
  const auto behind = std::lower_bound(
      lengths.begin(), lengths.end(), index,
      [](const LongLength& one, std::uint32_t wanted) { return one.node < wanted; });
  lengths.insert(behind, {index, shown});
}

}  // namespace opseal
