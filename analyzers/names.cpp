#include "opseal/names.h"

#include <cstring>

#include "opseal/digest.h"

namespace opseal {
namespace {

constexpr std::size_t block_size = 64 * 1024;
constexpr std::size_t first_slots = 1024;

}  // namespace

Names::Names() : slots_(first_slots, missing) { intern({}); }

std::size_t Names::slot_of(std::string_view text, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  while (slots_[slot] != missing) {
    const Entry& entry = entries_[slots_[slot]];
    if (entry.hash == hash && std::string_view(entry.bytes, entry.length) == text) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

Name Names::intern(std::string_view text) {
  const auto hash = static_cast<std::uint32_t>(hash_text(text));
  std::size_t slot = slot_of(text, hash);
  if (slots_[slot] != missing) return slots_[slot];
  if ((entries_.size() + 1) * 4 > slots_.size() * 3) {
    grow();
    slot = slot_of(text, hash);
  }
  const auto name = static_cast<Name>(entries_.size());
  entries_.push_back({store(text), static_cast<std::uint32_t>(text.size()), hash});
  slots_[slot] = name;
  return name;
}

Name Names::find(std::string_view text) const {
  return slots_[slot_of(text, static_cast<std::uint32_t>(hash_text(text)))];
}

const char* Names::store(std::string_view text) {
  if (text.empty()) return "";
  if (text.size() > block_size / 4) {
    // A block of its own, so that the current one isn't thrown away half empty.
    blocks_.push_back(std::make_unique<char[]>(text.size()));
    std::memcpy(blocks_.back().get(), text.data(), text.size());
    return blocks_.back().get();
  }
  if (text.size() > block_left_) {
    blocks_.push_back(std::make_unique<char[]>(block_size));
    block_next_ = blocks_.back().get();
    block_left_ = block_size;
  }
  char* at = block_next_;
  std::memcpy(at, text.data(), text.size());
  block_next_ += text.size();
  block_left_ -= text.size();
  return at;
}

void Names::grow() {
  std::vector<Name> old(slots_.size() * 2, missing);
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Name name : old) {
    if (name == missing) continue;
    std::size_t slot = entries_[name].hash & mask;
    while (slots_[slot] != missing) slot = (slot + 1) & mask;
    slots_[slot] = name;
  }
}

}  // namespace opseal
