#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "opseal/chunked.h"

namespace opseal {

// An interned text: equal texts have equal numbers. 0 is the empty text.
using Name = std::uint32_t;

// Every text that the inputs hold, each once.
class Names {
 public:
  Names();

  Name intern(std::string_view text);
  // `missing` when the text was never interned.
  Name find(std::string_view text) const;
  std::string_view text(Name name) const {
    const Entry& entry = entries_[name];
    return {entry.bytes, entry.length};
  }
  std::size_t size() const { return entries_.size(); }

  static constexpr Name missing = 0xffffffff;

 private:
  struct Entry {
    const char* bytes = nullptr;
    std::uint32_t length = 0;
    std::uint32_t hash = 0;
  };

  std::size_t slot_of(std::string_view text, std::uint32_t hash) const;
  const char* store(std::string_view text);
  void grow();

  Chunked<Entry> entries_;
  // Open addressing; a slot holds an index into `entries_`, or `missing`.
  std::vector<Name> slots_;
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::size_t block_left_ = 0;
  char* block_next_ = nullptr;
};

}  // namespace opseal
