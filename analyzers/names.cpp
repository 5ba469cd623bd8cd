#include "opseal/names.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "opseal/digest.h"

namespace opseal {
namespace {

constexpr std::size_t block_size = 64 * 1024;
constexpr std::size_t first_slots = 1024;

}  // namespace

Names::Names() : slots_(first_slots), tags_(first_slots) { intern({}); }

Names::Found Names::search(std::string_view text) const {
  const std::uint64_t hash = hash_text(text);
  const std::size_t mask = slots_.size() - 1;
  Found found;
  found.tag = static_cast<Tag>(hash >> 57 | 0x80);
  found.slot = hash & mask;
  while (tags_[found.slot] != 0) {
    if (tags_[found.slot] == found.tag && this->text(slots_[found.slot]) == text) {
      found.there = true;
      break;
    }
    found.slot = (found.slot + 1) & mask;
  }
  return found;
}

Name Names::intern(std::string_view text) {
  Found found = search(text);
  if (found.there) return slots_[found.slot];
  if ((entries_.size() + 1) * 4 > slots_.size() * 3) {
    grow();
    found = search(text);
  }
  const auto name = static_cast<Name>(entries_.size());
  entries_.push_back(store(text));
  slots_[found.slot] = name;
  tags_[found.slot] = found.tag;
  return name;
}

Name Names::find(std::string_view text) const {
  const Found found = search(text);
  return found.there ? slots_[found.slot] : missing;
}

const char* Names::store(std::string_view text) {
  const auto length = static_cast<std::uint32_t>(text.size());
  const std::size_t needed = sizeof length + length;
  char* at = nullptr;
  if (needed > block_size / 4) {
    // A block of its own, so that the current one isn't thrown away half empty.
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(needed));
    at = blocks_.back().get();
  } else {
    if (needed > block_left_) {
      blocks_.push_back(std::make_unique_for_overwrite<char[]>(block_size));
      block_next_ = blocks_.back().get();
      block_left_ = block_size;
    }
    at = block_next_;
    block_next_ += needed;
    block_left_ -= needed;
  }
  std::memcpy(at, &length, sizeof length);
  // Not memcpy, to which the null of an empty view is a mistake.
  std::copy_n(text.data(), length, at + sizeof length);
  return at;
}

void Names::grow() {
  slots_.assign(slots_.size() * 2, 0);
  tags_.assign(slots_.size(), 0);
  for (std::size_t name = 0; name < entries_.size(); ++name) {
    const Found found = search(text(static_cast<Name>(name)));
    slots_[found.slot] = static_cast<Name>(name);
    tags_[found.slot] = found.tag;
  }
}

}  // namespace opseal
