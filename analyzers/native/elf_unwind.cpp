// `.eh_frame_hdr`, from the Linux Standard Base: a version, the encodings of three things, the
// place of `.eh_frame`, a count, and a sorted table of (start of a function, place of its
// description).

#include <algorithm>

#include "analyzers/native/elf.h"

namespace opseal {
namespace {

constexpr std::uint32_t unwind_segment = 0x6474e550;

// Pointer encodings of the DWARF unwinder: how a value is written, and what is added to it.
constexpr std::uint8_t form_mask = 0x0f;
constexpr std::uint8_t base_mask = 0x70;
constexpr std::uint8_t base_absolute = 0x00;
constexpr std::uint8_t base_of_table = 0x30;
constexpr std::uint8_t omitted = 0xff;

struct UnwindTable {
  Bytes bytes;
  std::uint64_t address = 0;
};

UnwindTable unwind_table(const Elf& elf) {
  if (const ElfSection* section = elf.section(".eh_frame_hdr")) {
    return {elf.data(*section), section->address};
  }
  for (const ElfSegment& segment : elf.segments()) {
    if (segment.type == unwind_segment) {
      return {elf.file().part(segment.offset, segment.file_size, "the unwind table"),
              segment.address};
    }
  }
  return {};
}

// Bytes; 0 for forms of no fixed length, which no linker writes here.
std::uint64_t size_of(std::uint8_t encoding) {
  switch (encoding & form_mask) {
    case 0x00:
    case 0x04:
    case 0x0c:
      return 8;
    case 0x03:
    case 0x0b:
      return 4;
    case 0x02:
    case 0x0a:
      return 2;
    default:
      return 0;
  }
}

std::uint64_t value_of(const Bytes& bytes, std::uint64_t at, std::uint8_t encoding) {
  switch (encoding & form_mask) {
    case 0x02:
      return bytes.u16(at);
    case 0x03:
      return bytes.u32(at);
    case 0x0a:
      return static_cast<std::uint64_t>(std::int64_t{bytes.read<std::int16_t>(at)});
    case 0x0b:
      return static_cast<std::uint64_t>(std::int64_t{bytes.i32(at)});
    default:
      return bytes.u64(at);
  }
}

std::vector<std::uint64_t> function_starts(const UnwindTable& table) {
  const Bytes& bytes = table.bytes;
  if (!bytes.holds(0, 4) || bytes.u8(0) != 1) return {};
  const std::uint8_t place = bytes.u8(1), counted = bytes.u8(2), listed = bytes.u8(3);
  const std::uint8_t base = listed & base_mask;
  if (place == omitted || counted == omitted || listed == omitted || size_of(place) == 0 ||
      size_of(counted) == 0 || size_of(listed) == 0 ||
      (base != base_absolute && base != base_of_table)) {
    return {};
  }
  const std::uint64_t entry = size_of(listed) * 2;
  const Bytes rest = bytes.from(4 + size_of(place), "an unwind table");
  const std::uint64_t count = value_of(rest, 0, counted);
  const Bytes entries = rest.from(size_of(counted), "an unwind table");
  if (count > entries.size() / entry) {
    throw InputError(rest.offset(), size_of(counted),
                     std::to_string(count) + " functions in an unwind table of " +
                         std::to_string(bytes.size()) + " bytes");
  }
  std::vector<std::uint64_t> starts(count);
  const std::uint64_t added = base == base_of_table ? table.address : 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    starts[i] = value_of(entries, i * entry, listed) + added;
  }
  // The loader relies on their order; damage doesn't.
  if (!std::is_sorted(starts.begin(), starts.end())) std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  return starts;
}

}  // namespace

std::vector<std::pair<std::uint64_t, std::uint64_t>> function_ranges(const Elf& elf) {
  const std::vector<std::uint64_t> starts = function_starts(unwind_table(elf));
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  ranges.reserve(starts.size());
  auto code = elf.code().begin();
  for (std::size_t i = 0; i < starts.size(); ++i) {
    while (code != elf.code().end() && code->second <= starts[i]) ++code;
    if (code == elf.code().end()) break;
    if (starts[i] < code->first) continue;
    const bool followed = i + 1 < starts.size() && starts[i + 1] < code->second;
    ranges.emplace_back(starts[i], followed ? starts[i + 1] : code->second);
  }
  return ranges;
}

}  // namespace opseal
