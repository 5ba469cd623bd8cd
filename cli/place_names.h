#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "opseal/facts.h"

namespace opseal {

// Finds the name of the innermost fact that holds a place, from the document down. What a large
// container holds is listed when somebody first asks, so that many findings in one long list don't
// each walk through all of it.
class PlaceNames {
 public:
  // Needs: the facts outlive this, and don't change.
  explicit PlaceNames(const Facts& facts) : facts_(facts) {}

  // The JSON pointer (RFC 6901) from the top of the file; empty for the whole of it, and for a file
  // that is no document.
  std::string logical(const Location& where);
  // The same without list indexes: `operators/jvp/rules`. Survives edits that add or remove other
  // elements.
  std::string stable(const Location& where);

 private:
  // A member, element or entry.
  struct Child {
    // The node that begins it: its name, where it has one, else its value.
    std::uint32_t first = 0;
    std::uint32_t value = 0;
    std::size_t index = 0;
  };

  // Nodes [first, end) of a document, whose places are all in one file.
  struct Stretch {
    std::uint32_t document = 0;
    std::uint32_t first = 0;
    std::uint32_t end = 0;
  };

  using DocumentIterator = std::vector<Document>::const_iterator;
  // Of one file.
  std::pair<DocumentIterator, DocumentIterator> documents_of(std::uint32_t file) const;
  // Of a file that is no binary one; nullptr for a file that is no document.
  const Document* document_at(const Location& where) const;
  std::string start_of(const Location& where) const;

  // Calls `step(child)` for each level.
  template <typename Step>
  void descend(const Location& where, Step step);
  // The same for a binary file, whose facts stand in another order than their places.
  template <typename Step>
  void descend_binary(const Location& where, Step step);
  void list_stretches();
  // The last child of a container that begins at or before an offset; false when there is none.
  bool find(std::uint32_t container, std::uint64_t offset, Child& child);
  Child child_at(std::uint32_t first, std::size_t index) const;
  std::uint32_t after(const Child& child) const;
  bool holds(std::uint32_t node, std::uint64_t offset) const;
  // Empty for the elements of a list.
  std::string_view name_of(const Child& child) const;

  const Facts& facts_;
  // File -> its facts, once somebody asked for a place in a binary file.
  std::unordered_map<std::uint32_t, Stretch> stretches_;
  // Large container -> where its children begin.
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> children_;
};

// A name in a JSON pointer: `~` and `/` are escaped.
std::string pointer_token(std::string_view text);

// For a single place.
std::string logical_name(const Facts& facts, const Location& where);
std::string stable_name(const Facts& facts, const Location& where);

}  // namespace opseal
