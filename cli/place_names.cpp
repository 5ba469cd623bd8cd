#include "cli/place_names.h"

#include <algorithm>
#include <iterator>

namespace opseal {
namespace {

// Nodes from which on a container's children are listed.
constexpr std::uint32_t large = 1024;

}  // namespace

std::string pointer_token(std::string_view text) {
  std::string out;
  for (const char byte : text) {
    if (byte == '~') {
      out += "~0";
    } else if (byte == '/') {
      out += "~1";
    } else {
      out += byte;
    }
  }
  return out;
}

// Entries of maps and `x-` members are two nodes: name and value.
PlaceNames::Child PlaceNames::child_at(std::uint32_t first, std::size_t index) const {
  const Key key = facts_.nodes[first].key;
  const bool named = key == Key::entry_name || key == Key::extension;
  return {first, named ? first + 1 : first, index};
}

std::uint32_t PlaceNames::after(const Child& child) const {
  return child.value + extent(facts_.nodes[child.value]);
}

bool PlaceNames::holds(std::uint32_t node, std::uint64_t offset) const {
  const Node& holder = facts_.nodes[node];
  if (offset < holder.offset()) return false;
  return offset < holder.offset() + facts_.length(node);
}

std::string_view PlaceNames::name_of(const Child& child) const {
  if (child.first != child.value) return facts_.names.text(facts_.nodes[child.first].value);
  return to_text(facts_.nodes[child.value].key);
}

bool PlaceNames::find(std::uint32_t container, std::uint64_t offset, Child& child) {
  const std::uint32_t end = container + extent(facts_.nodes[container]);
  if (end - container < large) {
    bool found = false;
    std::size_t index = 0;
    for (std::uint32_t first = container + 1; first < end; ++index) {
      if (facts_.nodes[first].offset() > offset) break;
      child = child_at(first, index);
      found = true;
      first = after(child);
    }
    return found;
  }
  std::vector<std::uint32_t>& children = children_[container];
  if (children.empty()) {
    for (std::uint32_t first = container + 1; first < end;) {
      children.push_back(first);
      first = after(child_at(first, 0));
    }
  }
  const auto behind = std::upper_bound(children.begin(), children.end(), offset,
                                       [this](std::uint64_t wanted, std::uint32_t first) {
                                         return wanted < facts_.nodes[first].offset();
                                       });
  if (behind == children.begin()) return false;
  const auto at = std::prev(behind);
  child = child_at(*at, static_cast<std::size_t>(at - children.begin()));
  return true;
}

void PlaceNames::list_stretches() {
  for (std::uint32_t number = 0; number < facts_.documents.size(); ++number) {
    const Document& document = facts_.documents[number];
    auto mark = std::lower_bound(
        facts_.other_files.begin(), facts_.other_files.end(), document.first,
        [](const OtherFile& other, std::uint32_t node) { return other.node < node; });
    Stretch stretch{number, document.first, document.end};
    std::uint32_t file = document.file;
    for (; mark != facts_.other_files.end() && mark->node < document.end; ++mark) {
      stretch.end = mark->node;
      stretches_.try_emplace(file, stretch);
      stretch = {number, mark->node, document.end};
      file = mark->file;
    }
    stretches_.try_emplace(file, stretch);
  }
}

template <typename Step>
void PlaceNames::descend_binary(const Location& where, Step step) {
  if (stretches_.empty()) list_stretches();
  const auto stretch = stretches_.find(where.file);
  if (stretch == stretches_.end()) return;
  const auto [document, first, end] = stretch->second;
  std::uint32_t wanted = first;
  while (wanted < end &&
         (facts_.nodes[wanted].offset() != where.offset || facts_.length(wanted) != where.length)) {
    ++wanted;
  }
  if (wanted == end) return;
  std::uint32_t node = facts_.documents[document].first;
  while (node != wanted && facts_.nodes[node].is_container()) {
    Child child = child_at(node + 1, 0);
    while (after(child) <= wanted) child = child_at(after(child), child.index + 1);
    step(child);
    // Of an entry the name may be what was asked for.
    if (child.first == wanted) return;
    node = child.value;
  }
}

// Documents are in the order of their files, and those of one file, a list, in that of their
// places.
const Document* PlaceNames::document_at(const Location& where) const {
  const auto [first, end] = documents_of(where.file);
  const auto after = std::upper_bound(first, end, where.offset,
                                      [this](std::uint64_t offset, const Document& document) {
                                        return offset < facts_.nodes[document.first].offset();
                                      });
  if (first == end) return nullptr;
  return after == first ? &*first : &*std::prev(after);
}

std::pair<PlaceNames::DocumentIterator, PlaceNames::DocumentIterator> PlaceNames::documents_of(
    std::uint32_t file) const {
  return {std::lower_bound(facts_.documents.begin(), facts_.documents.end(), file,
                           [](const Document& document, std::uint32_t wanted) {
                             return document.file < wanted;
                           }),
          std::upper_bound(facts_.documents.begin(), facts_.documents.end(), file,
                           [](std::uint32_t wanted, const Document& document) {
                             return wanted < document.file;
                           })};
}

// "/2" in a file that is a list of manifests.
std::string PlaceNames::start_of(const Location& where) const {
  if (!where.known() || where.file >= facts_.files.size() || facts_.files[where.file].binary)
    return {};
  const auto [first, end] = documents_of(where.file);
  // The documents of a tree of sources all begin at the tree.
  if (end - first < 2 || facts_.nodes[first->first].offset() == 0) return {};
  return '/' + std::to_string(document_at(where) - &*first);
}

template <typename Step>
void PlaceNames::descend(const Location& where, Step step) {
  if (!where.known() || where.file >= facts_.files.size()) return;
  if (facts_.files[where.file].binary) {
    if (where.offset != 0 || where.length != 0) descend_binary(where, step);
    return;
  }
  const Document* document = document_at(where);
  if (document == nullptr) return;
  // Settings are TOML or a command line: a JSON pointer into them leads nowhere.
  if (document->settings) return;
  std::uint32_t node = document->first;
  Child child;
  while (facts_.nodes[node].is_container() && facts_.nodes[node].offset() != where.offset) {
    if (!find(node, where.offset, child)) return;
    if (!holds(child.first, where.offset) && !holds(child.value, where.offset)) return;
    step(child);
    node = child.value;
  }
}

std::string PlaceNames::logical(const Location& where) {
  std::string pointer = start_of(where);
  descend(where, [&](const Child& child) {
    const std::string_view name = name_of(child);
    const bool named = child.first != child.value || !name.empty();
    pointer += '/';
    pointer += named ? pointer_token(name) : std::to_string(child.index);
  });
  return pointer;
}

std::string PlaceNames::stable(const Location& where) {
  std::string names;
  descend(where, [&](const Child& child) {
    const std::string_view name = name_of(child);
    if (name.empty()) return;
    if (!names.empty()) names += '/';
    names += pointer_token(name);
  });
  return names;
}

std::string logical_name(const Facts& facts, const Location& where) {
  return PlaceNames(facts).logical(where);
}

std::string stable_name(const Facts& facts, const Location& where) {
  return PlaceNames(facts).stable(where);
}

}  // namespace opseal
