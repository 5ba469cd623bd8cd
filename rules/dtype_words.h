#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "opseal/dtypes.h"
#include "opseal/facts.h"

namespace opseal {

// Reads each distinct dtype word of a run once, however often it is said.
class DtypeWords {
 public:
  explicit DtypeWords(const Facts& facts) : facts_(&facts) {}

  // Needs: `text.is_text()`.
  const DtypeWord& read(const Fact& text) {
    const Name name = text.name();
    if (name >= slots_.size()) grow(name);
    std::uint32_t& slot = slots_[name];
    if (slot == unread) {
      slot = static_cast<std::uint32_t>(words_.size());
      words_.push_back(read_dtype(text.text()));
    }
    return words_[slot];
  }

  // Whether two words are, or may be, one dtype. Words that are no dtype of the table are compared
  // as they are written.
  bool same(const Fact& a, const Fact& b) {
    if (a.name() == b.name()) return true;
    const Dtype* left = read(a).dtype;
    const Dtype* right = read(b).dtype;
    return left != nullptr && right != nullptr && same_dtype(*left, *right);
  }

 private:
  static constexpr std::uint32_t unread = 0xffffffff;

  // Dtype words are among the first texts of a manifest, so that a few slots mostly do where a
  // large one has millions of names.
  void grow(Name name) {
    const std::size_t wanted = std::max<std::size_t>(std::size_t{name} + 1, 2 * slots_.size());
    slots_.resize(std::min<std::size_t>(wanted, facts_->names.size()), unread);
  }

  const Facts* facts_;
  // By Name.
  std::vector<std::uint32_t> slots_;
  std::vector<DtypeWord> words_;
};

// Calls `visit(text)` for each dtype word in a list, a list of lists, or a map of lists.
template <typename Visit>
void for_each_dtype(const Fact& words, Visit visit) {
  if (words.is_text()) {
    visit(words);
  } else if (words.is_list()) {
    for (const Fact item : words.items()) for_each_dtype(item, visit);
  } else if (words.is_map()) {
    for (const EntryRange::Entry entry : words.entries()) for_each_dtype(entry.value, visit);
  }
}

// Every word was read.
inline bool all_dtypes_read(const Fact& words) {
  if (words.is_list()) {
    for (const Fact item : words.items()) {
      if (!all_dtypes_read(item)) return false;
    }
    return true;
  }
  if (words.is_map()) {
    for (const EntryRange::Entry entry : words.entries()) {
      if (!all_dtypes_read(entry.value)) return false;
    }
    return true;
  }
  return words.is_text();
}

}  // namespace opseal
