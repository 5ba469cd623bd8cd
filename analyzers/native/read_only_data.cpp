#include "analyzers/native/read_only_data.h"

#include <algorithm>
#include <bitset>
#include <cstring>
#include <memory>

#include "analyzers/native/budget.h"
#include "analyzers/native/hit_block.h"
#include "analyzers/native/host_links.h"

namespace opseal {
namespace {

constexpr std::uint32_t program_bits = 1;
constexpr std::uint32_t loaded_segment = 1;
constexpr std::uint32_t writable_segment = 2;

// Of one name: linkers keep one copy of a text, or one for each part that they joined.
constexpr std::uint32_t most_places = 1000;

// Sections without texts of the host.
constexpr std::string_view left_out[] = {".nv", "__nv", ".hip_fatbin", ".eh_frame",
                                         ".gcc_except_table"};

std::uint64_t last_eight(const char* end) {
  std::uint64_t number;
  std::memcpy(&number, end - sizeof number, sizeof number);
  return number;
}

// Texts in the order of their bytes from the last to the first: those that end alike stand
// together. Eight bytes at a time, of which the number's highest is the last.
int compare_from_end(std::string_view a, std::string_view b) {
  while (a.size() >= 8 && b.size() >= 8) {
    const std::uint64_t a_end = last_eight(a.data() + a.size());
    const std::uint64_t b_end = last_eight(b.data() + b.size());
    if (a_end != b_end) return a_end < b_end ? -1 : 1;
    a.remove_suffix(8);
    b.remove_suffix(8);
  }
  while (!a.empty() && !b.empty()) {
    const auto a_last = static_cast<unsigned char>(a.back());
    const auto b_last = static_cast<unsigned char>(b.back());
    if (a_last != b_last) return a_last < b_last ? -1 : 1;
    a.remove_suffix(1);
    b.remove_suffix(1);
  }
  if (a.size() == b.size()) return 0;
  return a.empty() ? -1 : 1;
}

// Finds which of many names a text ends with. In the order of `compare_from_end`, the greatest name
// that is not above the text is one that the text ends with, or one of those is an end of it.
class NameEnds {
 public:
  explicit NameEnds(const std::vector<std::string_view>& names) : names_(names) {
    for (std::uint32_t i = 0; i < names.size(); ++i) {
      if (!names[i].empty()) order_.push_back(i);
    }
    std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return compare_from_end(names[a], names[b]) < 0;
    });
    for (const std::uint32_t index : order_) shortest_ = std::min(shortest_, names[index].size());
    tail_ = std::min<std::size_t>(shortest_, 8);
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const std::string_view name = names[order_[i]];
      (*tails_)[hash_of_tail(name)] = true;
      std::size_t shorter = i == 0 ? none : i - 1;
      while (shorter != none && !name.ends_with(names[order_[shorter]])) {
        shorter = shorter_[shorter];
      }
      shorter_.push_back(shorter);
    }
  }

  bool empty() const { return order_.empty(); }

  // Of the shortest name.
  std::size_t shortest() const { return shortest_; }
  // Whether one may end in front of `end`, which eight bytes precede.
  bool may_end(const char* end) const { return (*tails_)[hash_of(last_eight(end))]; }

  template <typename Take>
  void find(std::string_view text, Take take) const {
    if (text.size() < shortest_ || !(*tails_)[hash_of_tail(text)]) return;
    const auto above = std::upper_bound(order_.begin(), order_.end(), text,
                                        [&](std::string_view whole, std::uint32_t index) {
                                          return compare_from_end(whole, names_[index]) < 0;
                                        });
    std::size_t at = above == order_.begin() ? none : std::size_t(above - order_.begin() - 1);
    // Names within names are few, except where somebody wants this to take long.
    for (int step = 0; at != none && step < 32; ++step, at = shorter_[at]) {
      if (text.ends_with(names_[order_[at]])) take(order_[at]);
    }
  }

 private:
  static constexpr std::size_t none = std::size_t(-1);
  static constexpr std::size_t hashes = std::size_t{1} << 18;

  std::size_t hash_of_tail(std::string_view text) const {
    if (text.size() >= 8) return hash_of(last_eight(text.data() + text.size()));
    std::uint64_t number = 0;
    for (const char c : text.substr(text.size() - tail_)) {
      number = number >> 8 | std::uint64_t{static_cast<unsigned char>(c)} << 56;
    }
    return hash_of(number);
  }
  // Of eight bytes, of which the last ones count.
  std::size_t hash_of(std::uint64_t bytes) const {
    return (bytes >> (64 - 8 * tail_)) * 0x9E3779B97F4A7C15u >> (64 - 18);
  }

  const std::vector<std::string_view>& names_;
  std::vector<std::uint32_t> order_;
  // For each place of the order, that of the longest other name that its own ends with.
  std::vector<std::size_t> shorter_;
  std::size_t shortest_ = std::size_t(-1);
  std::size_t tail_ = 0;
  // Of the last bytes of names: nearly all texts are told from them at once.
  std::unique_ptr<std::bitset<hashes>> tails_ = std::make_unique<std::bitset<hashes>>();
};

// Calls `take` with each place of a zero byte that may be the end of a name. Most of what is
// searched are tables of numbers, full of zeros, before which few other bytes stand.
template <typename Take>
void for_each_end(std::string_view bytes, const NameEnds& ends, Take take) {
  constexpr std::size_t before = 8;
  const auto shortest = static_cast<std::ptrdiff_t>(std::min(ends.shortest(), before));
  const std::ptrdiff_t two = std::min<std::ptrdiff_t>(2, shortest);
  const std::ptrdiff_t three = std::min<std::ptrdiff_t>(3, shortest);
  std::size_t at = 0;
  for (; at < std::min(before, bytes.size()); ++at) {
    if (bytes[at] == '\0') take(at);
  }
  const auto ask = [&](std::size_t zero) {
    if (ends.may_end(bytes.data() + zero)) take(zero);
  };
  for (; at + HitBlock::size <= bytes.size(); at += HitBlock::size) {
    const char* here = bytes.data() + at;
    HitBlock block;
    for (std::size_t i = 0; i < HitBlock::size; ++i) {
      const char* place = here + i;
      block.marks[i] =
          static_cast<unsigned char>((*place == 0) & (place[-1] != 0) & (place[-two] != 0) &
                                     (place[-three] != 0) & (place[-shortest] != 0));
    }
    block.for_each([&](std::size_t i) { ask(at + i); });
  }
  for (; at < bytes.size(); ++at) {
    if (bytes[at] == '\0') ask(at);
  }
}

}  // namespace

std::vector<ReadOnlyData> read_only_data(const Elf& elf) {
  std::vector<ReadOnlyData> parts;
  Budget budget(elf.file(), "read-only sections");
  for (const ElfSection& section : elf.sections()) {
    if (section.type != program_bits || !section.is_allocated() || section.is_executable() ||
        section.is_writable() || section.is_compressed()) {
      continue;
    }
    if (std::any_of(std::begin(left_out), std::end(left_out),
                    [&](std::string_view name) { return section.name.starts_with(name); })) {
      continue;
    }
    budget.take(std::min(section.size, elf.file().size()), section.offset);
    parts.push_back({section.address, section.offset, elf.data(section).view()});
  }
  if (!elf.sections().empty()) return parts;
  for (const ElfSegment& segment : elf.segments()) {
    if (segment.type != loaded_segment || (segment.flags & writable_segment) != 0) continue;
    const Bytes bytes = elf.file().part(segment.offset, segment.file_size, "a segment");
    budget.take(bytes.size(), bytes.offset());
    parts.push_back({segment.address, segment.offset, bytes.view()});
  }
  return parts;
}

std::vector<NamePlace> locate_names(const Elf& elf, const std::vector<std::string_view>& names) {
  std::vector<NamePlace> places;
  const NameEnds ends(names);
  if (ends.empty()) return places;
  std::vector<std::uint32_t> counts(names.size());
  for (const ReadOnlyData& data : read_only_data(elf)) {
    for_each_end(data.bytes, ends, [&](std::size_t zero) {
      const std::size_t last = zero == 0 ? data.bytes.npos : data.bytes.rfind('\0', zero - 1);
      const std::size_t start = last == data.bytes.npos ? 0 : last + 1;
      ends.find(data.bytes.substr(start, zero - start), [&](std::uint32_t name) {
        if (++counts[name] > most_places) return;
        places.push_back({data.address + zero - names[name].size(), name});
      });
    });
  }
  std::sort(places.begin(), places.end(),
            [](const NamePlace& a, const NamePlace& b) { return a.address < b.address; });
  return places;
}

}  // namespace opseal
