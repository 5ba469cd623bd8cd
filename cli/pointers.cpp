#include "cli/pointers.h"

#include <algorithm>
#include <iterator>

namespace opseal {
namespace {

// RFC 6901: `~` and `/` are escaped.
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

}  // namespace

Pointers::Pointers(const Facts& facts) : facts_(facts), roots_(facts.files.size(), no_document) {
  for (const Document& document : facts.documents) {
    roots_[document.file] = document.first;
    if (document.settings) settings_file_ = document.file;
  }
}

std::string Pointers::pointer(const Location& where) {
  std::string pointer;
  // No JSON: what the settings state has other names in its own text.
  if (where.file == settings_file_) return pointer;
  descend(where, [&pointer](std::string_view name, std::size_t index) {
    pointer += '/';
    pointer += name.empty() ? std::to_string(index) : pointer_token(name);
  });
  return pointer;
}

std::string Pointers::stable_name(const Location& where) {
  std::string name;
  descend(where, [&name](std::string_view token, std::size_t) {
    if (token.empty()) return;
    if (!name.empty()) name += '/';
    name += pointer_token(token);
  });
  return name;
}

void Pointers::descend(const Location& where, const Step& step) {
  if (!where.known() || where.file >= roots_.size() || roots_[where.file] == no_document) return;
  std::uint32_t node = roots_[where.file];
  while (facts_.nodes[node].is_container() && facts_.nodes[node].offset() != where.offset) {
    const Child child = child_at(node, where.offset);
    if (child.value == 0 || !covers(child, where.offset)) return;
    const Node& first = facts_.nodes[child.first];
    // A name of a map, or a key that begins with `x-`, stands in front of its value as a text.
    step(child.first == child.value ? to_text(first.key) : facts_.names.text(first.value),
         child.index);
    node = child.value;
  }
}

std::uint32_t Pointers::value_of(std::uint32_t container, std::uint32_t first) const {
  const bool named =
      facts_.nodes[container].type == NodeType::map || facts_.nodes[first].key == Key::extension;
  return named ? first + 1 : first;
}

Pointers::Child Pointers::child_at(std::uint32_t container, std::uint64_t offset) {
  const std::uint32_t end = container + facts_.nodes[container].value;
  if (end - container <= short_extent) return scan(container, offset);
  const auto [entry, fresh] = children_.try_emplace(container);
  std::vector<std::uint32_t>& firsts = entry->second;
  if (fresh) {
    for (std::uint32_t first = container + 1; first < end;) {
      firsts.push_back(first);
      const std::uint32_t value = value_of(container, first);
      first = value + extent(facts_.nodes[value]);
    }
  }
  const auto after = std::upper_bound(firsts.begin(), firsts.end(), offset,
                                      [this](std::uint64_t wanted, std::uint32_t first) {
                                        return wanted < facts_.nodes[first].offset();
                                      });
  if (after == firsts.begin()) return {};
  const std::uint32_t first = *std::prev(after);
  return {first, value_of(container, first),
          static_cast<std::size_t>(std::prev(after) - firsts.begin())};
}

Pointers::Child Pointers::scan(std::uint32_t container, std::uint64_t offset) const {
  const std::uint32_t end = container + facts_.nodes[container].value;
  Child chosen;
  std::size_t index = 0;
  for (std::uint32_t first = container + 1; first < end; ++index) {
    const std::uint32_t value = value_of(container, first);
    // What the settings state stands in their document's order, not in that of the file.
    if (facts_.nodes[first].offset() <= offset &&
        (chosen.value == 0 ||
         facts_.nodes[first].offset() >= facts_.nodes[chosen.first].offset())) {
      chosen = {first, value, index};
    }
    first = value + extent(facts_.nodes[value]);
  }
  return chosen;
}

bool Pointers::covers(const Child& child, std::uint64_t offset) const {
  const Node& value = facts_.nodes[child.value];
  // A length is cut at its greatest value; then only the next sibling tells where the child ends.
  return offset == value.offset() || value.length() == Node::max_length ||
         offset < value.offset() + value.length();
}

}  // namespace opseal
