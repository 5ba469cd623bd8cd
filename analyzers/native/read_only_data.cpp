#include "analyzers/native/read_only_data.h"

#include <algorithm>
#include <bitset>
#include <cstring>
#include <memory>

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
    std::uint64_t number = 0;
    if (text.size() >= 8) {
      number = last_eight(text.data() + text.size()) >> (64 - 8 * tail_);
    } else {
      for (const char c : text.substr(text.size() - tail_)) {
        number = number >> 8 | std::uint64_t{static_cast<unsigned char>(c)} << (8 * tail_ - 8);
      }
    }
    return (number * 0x9E3779B97F4A7C15u) >> (64 - 18);
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

}  // namespace

std::vector<ReadOnlyData> read_only_data(const Elf& elf) {
  std::vector<ReadOnlyData> parts;
  for (const ElfSection& section : elf.sections()) {
    if (section.type != program_bits || !section.is_allocated() || section.is_executable() ||
        section.is_writable() || section.is_compressed()) {
      continue;
    }
    if (std::any_of(std::begin(left_out), std::end(left_out),
                    [&](std::string_view name) { return section.name.starts_with(name); })) {
      continue;
    }
    parts.push_back({section.address, section.offset, elf.data(section).view()});
  }
  if (!elf.sections().empty()) return parts;
  for (const ElfSegment& segment : elf.segments()) {
    if (segment.type != loaded_segment || (segment.flags & writable_segment) != 0) continue;
    const Bytes bytes = elf.file().part(segment.offset, segment.file_size, "a segment");
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
    std::size_t start = 0;
    while (start < data.bytes.size()) {
      const std::size_t zero = data.bytes.find('\0', start);
      if (zero == std::string_view::npos) break;
      ends.find(data.bytes.substr(start, zero - start), [&](std::uint32_t name) {
        if (++counts[name] > most_places) return;
        places.push_back({data.address + zero - names[name].size(), name});
      });
      start = zero + 1;
    }
  }
  std::sort(places.begin(), places.end(),
            [](const NamePlace& a, const NamePlace& b) { return a.address < b.address; });
  return places;
}

std::vector<std::string_view> names_in_data(const Elf& elf,
                                            const std::vector<std::string_view>& names) {
  std::vector<bool> there(names.size());
  for (const NamePlace& place : locate_names(elf, names)) there[place.name] = true;
  std::vector<std::string_view> found;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (there[i]) found.push_back(names[i]);
  }
  return found;
}

}  // namespace opseal
