#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "opseal/facts.h"

namespace opseal {

// The way from a document down to a place. It remembers where the elements of long lists stand, so
// that a hundred thousand findings in a list of a hundred thousand operators don't each count
// through it.
class Pointers {
 public:
  // Needs: `facts` outlives this and doesn't change.
  explicit Pointers(const Facts& facts);

  // The JSON pointer (RFC 6901) of the innermost fact that covers a place; empty for the whole
  // document, for a place in a file of which nothing was read, and for what the settings state.
  std::string pointer(const Location& where);

  // The same without list indexes: `operators/jvp/rules`. Survives edits that add or remove other
  // elements.
  std::string stable_name(const Location& where);

 private:
  // `name` is empty for an element of a list.
  using Step = std::function<void(std::string_view name, std::size_t index)>;
  struct Child {
    // The node that is the child's first byte: its name, where it stands in a map.
    std::uint32_t first = 0;
    std::uint32_t value = 0;
    std::size_t index = 0;
  };

  void descend(const Location& where, const Step& step);
  // The last child that begins at or before `offset`; its `value` is 0 when there is none.
  Child child_at(std::uint32_t container, std::uint64_t offset);
  Child scan(std::uint32_t container, std::uint64_t offset) const;
  std::uint32_t value_of(std::uint32_t container, std::uint32_t first) const;
  bool covers(const Child& child, std::uint64_t offset) const;

  const Facts& facts_;
  // File -> its document's first node, `no_document` when it has none.
  std::vector<std::uint32_t> roots_;
  std::uint32_t settings_file_ = Location::nowhere;
  // Long container -> the first node of each child.
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> children_;

  static constexpr std::uint32_t no_document = 0xffffffff;
  // Nodes that a container may take and still be looked through from its start.
  static constexpr std::uint32_t short_extent = 256;
};

}  // namespace opseal
