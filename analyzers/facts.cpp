#include "opseal/facts.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace opseal {

double Fact::number(double otherwise) const {
  if (is_count()) return node().value;
  return has(NodeType::real) ? facts_->reals[node().value] : otherwise;
}

Fact Fact::at(std::string_view name) const {
  for (const auto [entry, value] : entries()) {
    if (entry.text() == name) return value;
  }
  return {};
}

std::uint32_t Fact::size() const {
  std::uint32_t count = 0;
  for (const auto& entry : entries()) {
    (void)entry;
    ++count;
  }
  for (const Fact item : items()) {
    (void)item;
    ++count;
  }
  return count;
}

Location Fact::where() const { return facts_ == nullptr ? Location{} : facts_->place(node_); }

std::uint32_t Facts::length(std::uint32_t index) const {
  const std::uint32_t short_length = nodes[index].length();
  if (short_length < Node::max_length) return short_length;
  const auto found = std::lower_bound(
      long_lengths.begin(), long_lengths.end(), index,
      [](const LongLength& one, std::uint32_t wanted) { return one.node < wanted; });
  return found != long_lengths.end() && found->node == index ? found->length : short_length;
}

Location Facts::place(std::uint32_t index) const {
  const Node& node = nodes[index];
  const auto after = std::upper_bound(
      documents.begin(), documents.end(), index,
      [](std::uint32_t wanted, const Document& document) { return wanted < document.first; });
  if (after == documents.begin()) return {};
  const Document& document = *std::prev(after);
  std::uint32_t file = document.file;
  const auto mark = std::upper_bound(
      other_files.begin(), other_files.end(), index,
      [](std::uint32_t wanted, const OtherFile& other) { return wanted < other.node; });
  if (mark != other_files.begin() && std::prev(mark)->node >= document.first) {
    file = std::prev(mark)->file;
  }
  return {file, length(index), node.offset()};
}

void Facts::append(Facts&& other) {
  if (files.empty() && nodes.empty()) {
    *this = std::move(other);
    return;
  }
  const auto file_shift = static_cast<std::uint32_t>(files.size());
  const auto node_shift = static_cast<std::uint32_t>(nodes.size());
  const auto real_shift = static_cast<std::uint32_t>(reals.size());
  const auto moved = [file_shift](Location where) {
    if (where.known()) where.file += file_shift;
    return where;
  };
  std::vector<Name> renamed(other.names.size());
  for (std::size_t name = 0; name < renamed.size(); ++name) {
    renamed[name] = names.intern(other.names.text(static_cast<Name>(name)));
  }
  for (std::size_t index = 0; index < other.nodes.size(); ++index) {
    Node node = other.nodes[index];
    if (node.type == NodeType::text || node.type == NodeType::raw) node.value = renamed[node.value];
    if (node.type == NodeType::real) node.value += real_shift;
    nodes.push_back(node);
  }
  reals.insert(reals.end(), other.reals.begin(), other.reals.end());
  for (const LongLength& one : other.long_lengths) {
    long_lengths.push_back({one.node + node_shift, one.length});
  }
  for (const OtherFile& one : other.other_files) {
    other_files.push_back({one.node + node_shift, one.file + file_shift});
  }
  for (Document document : other.documents) {
    document.file += file_shift;
    document.first += node_shift;
    document.end += node_shift;
    documents.push_back(document);
  }
  for (Problem& problem : other.problems) {
    problem.where = moved(problem.where);
    problem.related = moved(problem.related);
    problems.push_back(std::move(problem));
  }
  std::move(other.files.begin(), other.files.end(), std::back_inserter(files));
  said |= other.said;
}

}  // namespace opseal
