#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
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
    const char* stored = entries_[name];
    std::uint32_t length = 0;
    std::memcpy(&length, stored, sizeof length);
    return {stored + sizeof length, length};
  }
  std::size_t size() const { return entries_.size(); }

  static constexpr Name missing = 0xffffffff;

 private:
  // A slot's tag is 0 while it is free, else seven bits of its text's hash and a set one. Tags lie
  // side by side, so that a search mostly reads one cache line of them and nothing else.
  using Tag = unsigned char;
  struct Found {
    // Where the text is, or would be.
    std::size_t slot = 0;
    Tag tag = 0;
    bool there = false;
  };

  Found search(std::string_view text) const;
  const char* store(std::string_view text);
  void grow();

  // Each points to a text's length, in four bytes, and the text behind it.
  Chunked<const char*> entries_;
  // Open addressing: the name in each slot, and its tag.
  std::vector<Name> slots_;
  std::vector<Tag> tags_;
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::size_t block_left_ = 0;
  char* block_next_ = nullptr;
};

}  // namespace opseal
