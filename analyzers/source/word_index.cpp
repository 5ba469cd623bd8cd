#include "analyzers/source/word_index.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "opseal/text.h"

namespace opseal {
namespace {

enum class ByteKind : std::uint8_t { other, digit, letter };

std::array<ByteKind, 256> make_kinds() {
  std::array<ByteKind, 256> kinds{};
  for (std::size_t byte = 0; byte < kinds.size(); ++byte) {
    if (byte >= '0' && byte <= '9') {
      kinds[byte] = ByteKind::digit;
    } else if (byte >= 0x80 || is_word_byte(static_cast<char>(byte))) {
      kinds[byte] = ByteKind::letter;
    }
  }
  return kinds;
}
const std::array<ByteKind, 256> kinds = make_kinds();

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

ByteKind kind_of(char byte) { return kinds[static_cast<unsigned char>(byte)]; }

std::uint64_t bytes_at(const char* at, std::size_t count) {
  std::uint64_t bytes = 0;
  if (count == sizeof bytes) {
    std::memcpy(&bytes, at, sizeof bytes);
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      bytes |= static_cast<std::uint64_t>(static_cast<unsigned char>(at[i])) << (8 * i);
    }
  }
  return bytes;
}

// By its first and last eight bytes and its length: what differs between them alone is rare.
std::uint32_t mark_of(std::string_view word) {
  constexpr std::size_t part = sizeof(std::uint64_t);
  const std::size_t count = std::min(word.size(), part);
  const std::uint64_t first = bytes_at(word.data(), count);
  const std::uint64_t last = bytes_at(word.data() + word.size() - count, count);
  std::uint64_t mixed = (first ^ (word.size() << 56)) * 0x9e3779b97f4a7c15;
  mixed = (mixed ^ (mixed >> 29) ^ last) * 0xbf58476d1ce4e5b9;
  return static_cast<std::uint32_t>(mixed >> 32);
}

// Calls `visit(word)` for each; numbers are none.
template <typename Visit>
void for_each_word(std::string_view text, const Visit& visit) {
  // A byte order mark is no letter of the first word.
  std::size_t at = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  while (at < text.size()) {
    const ByteKind first = kind_of(text[at]);
    if (first == ByteKind::other) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < text.size() && kind_of(text[at]) != ByteKind::other) ++at;
    if (first == ByteKind::letter) visit(text.substr(begin, at - begin));
  }
}

// Marks that were met, each once. Kept from file to file, so that nothing is cleared.
class Seen {
 public:
  static constexpr std::size_t most = std::size_t{1} << 15;

  void begin() {
    marks_.clear();
    if (++round_ == 0) {
      slots_.assign(slots_.size(), {});
      round_ = 1;
    }
  }

  // False once there are too many.
  bool add(std::uint32_t mark) {
    for (std::size_t at = mark % slots_.size();; at = (at + 1) % slots_.size()) {
      Slot& slot = slots_[at];
      if (slot.round != round_) {
        slot = {mark, round_};
        marks_.push_back(mark);
        return marks_.size() < most;
      }
      if (slot.mark == mark) return true;
    }
  }

  const std::vector<std::uint32_t>& marks() const { return marks_; }

 private:
  struct Slot {
    std::uint32_t mark = 0;
    std::uint32_t round = 0;
  };
  std::vector<Slot> slots_ = std::vector<Slot>(2 * most);
  std::vector<std::uint32_t> marks_;
  std::uint32_t round_ = 0;
};

}  // namespace

void WordQuery::add(std::string_view text) {
  std::string_view last;
  for_each_word(text, [&last](std::string_view word) { last = word; });
  if (last.empty()) {
    always_ = true;
  } else {
    marks_.push_back(mark_of(last));
  }
}

void WordQuery::settle() {
  std::sort(marks_.begin(), marks_.end());
  marks_.erase(std::unique(marks_.begin(), marks_.end()), marks_.end());
  for (const std::uint32_t mark : marks_) {
    filter_[mark % filter_bits / 64] |= std::uint64_t{1} << (mark % 64);
  }
}

bool WordQuery::has(std::uint32_t mark) const {
  if ((filter_[mark % filter_bits / 64] >> (mark % 64) & 1) == 0) return false;
  return std::binary_search(marks_.begin(), marks_.end(), mark);
}

void WordIndex::add(std::size_t file, std::string_view text) {
  thread_local Seen seen;
  seen.begin();
  bool fits = true;
  for_each_word(text, [&](std::string_view word) { fits = fits && seen.add(mark_of(word)); });
  if (fits) {
    files_[file].marks.assign(seen.marks().begin(), seen.marks().end());
  } else {
    files_[file].always = true;
  }
}

bool WordIndex::may_hold(std::size_t file, const WordQuery& words) const {
  const File& own = files_[file];
  if (own.always || words.always_) return true;
  return std::any_of(own.marks.begin(), own.marks.end(),
                     [&words](std::uint32_t mark) { return words.has(mark); });
}

}  // namespace opseal
