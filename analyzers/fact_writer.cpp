#include "analyzers/fact_writer.h"

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
  facts_.nodes.push_back(node);
  facts_.said[static_cast<std::size_t>(key)] = true;
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
  node.set_place(node.offset(), end_offset - node.offset());
}

}  // namespace opseal
