#include <algorithm>
#include <cstring>

#include "analyzers/native/budget.h"
#include "analyzers/native/code_targets.h"
#include "analyzers/native/hit_block.h"
#include "analyzers/native/host_links.h"
#include "opseal/side_by_side.h"

namespace opseal {
namespace {

// Forms of instructions of x86-64 (Intel's manual, volume 2), all with a signed distance of four
// bytes from the instruction's end as their last part:
//   E8 call    E9 jmp    0F 80..8F jcc    FF 15 call [rip+]    FF 25 jmp [rip+]
//   REX.W 8D /r lea r, [rip+]    REX.W 8B /r mov r, [rip+]
constexpr std::uint16_t x86_64 = 62;
constexpr std::uint16_t aarch64 = 183;

constexpr std::size_t load_length = 7;
// First three bytes of both loads: REX.W with or without REX.R, 8B or 8D (and 89 and 8F, which
// `is_load` refuses), and a ModRM byte that says [rip+distance].
constexpr std::uint32_t load_mask = 0x00C7F9FB;
constexpr std::uint32_t load_bits = 0x00058948;

std::uint32_t four_bytes(const char* at) {
  std::uint32_t number;
  std::memcpy(&number, at, sizeof number);
  return number;
}

std::uint8_t byte_of(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint8_t>(bytes[at]);
}

// Where an instruction's last four bytes lead to; `end` is the address behind it.
std::uint64_t target_of(const char* distance, std::uint64_t end) {
  return end + static_cast<std::uint64_t>(static_cast<std::int32_t>(four_bytes(distance)));
}

bool is_lea(std::uint32_t bytes) { return (bytes >> 8 & 0xFF) == 0x8D; }
bool is_load(std::uint32_t bytes) {
  return (bytes & load_mask) == load_bits && (is_lea(bytes) || (bytes >> 8 & 0xFF) == 0x8B);
}
std::uint8_t register_of(std::uint32_t bytes) {
  return static_cast<std::uint8_t>((bytes >> 19 & 7) | (bytes & 4) << 1);
}

// Where a PLT entry's jump begins, behind `endbr64` and `bnd`.
std::size_t plt_jump(std::string_view bytes) {
  std::size_t at = 0;
  if (bytes.starts_with("\xF3\x0F\x1E\xFA")) at = 4;
  if (bytes.substr(at).starts_with("\xF2")) ++at;
  return bytes.substr(at).starts_with("\xFF\x25") ? at : std::string_view::npos;
}

void make_unique_list(std::vector<std::uint64_t>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

// Where there is no unwind table, symbols tell at least the functions that others can call.
std::vector<std::pair<std::uint64_t, std::uint64_t>> functions_by_symbols(const Elf& elf) {
  std::vector<std::uint64_t> starts;
  for (const auto& symbols : {elf.dynamic_symbols(), elf.symbols()}) {
    for (const ElfSymbol& symbol : symbols) {
      if (symbol.is_defined() && symbol.is_function() && elf.is_code(symbol.value)) {
        starts.push_back(symbol.value);
      }
    }
  }
  make_unique_list(starts);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> functions;
  for (const auto& [first, end] : elf.code()) {
    auto start = std::lower_bound(starts.begin(), starts.end(), first);
    for (; start != starts.end() && *start < end; ++start) {
      const auto next = std::next(start);
      functions.emplace_back(*start, next != starts.end() ? std::min(*next, end) : end);
    }
  }
  return functions;
}

// Calls `take` with each place in `code` where a load begins.
template <typename Take>
void for_each_load(std::string_view code, Take take) {
  const auto part_of = [](std::uint32_t number, int byte) {
    return static_cast<unsigned char>(number >> (8 * byte) & 0xFF);
  };
  const unsigned char mask[] = {part_of(load_mask, 0), part_of(load_mask, 1),
                                part_of(load_mask, 2)};
  const unsigned char bits[] = {part_of(load_bits, 0), part_of(load_bits, 1),
                                part_of(load_bits, 2)};
  const auto ask = [&](std::size_t at) {
    if (is_load(four_bytes(code.data() + at))) take(at);
  };
  std::size_t at = 0;
  for (; at + HitBlock::size + load_length <= code.size(); at += HitBlock::size) {
    const char* here = code.data() + at;
    HitBlock block;
    for (std::size_t i = 0; i < HitBlock::size; ++i) {
      const auto fits = [&](std::size_t n) {
        return (static_cast<unsigned char>(here[i + n]) & mask[n]) == bits[n] ? 1 : 0;
      };
      block.marks[i] = static_cast<unsigned char>(fits(0) & fits(1) & fits(2));
    }
    block.for_each([&](std::size_t i) { ask(at + i); });
  }
  for (; at + load_length <= code.size(); ++at) ask(at);
}

}  // namespace

HostCode::HostCode(const Elf& elf, unsigned threads) : elf_(elf), threads_(threads) {
  if (elf.machine() != x86_64 && elf.machine() != aarch64) return;
  functions_ = function_ranges(elf);
  if (functions_.empty()) functions_ = functions_by_symbols(elf);
  pointers_ = read_pointers(elf);
}

std::string_view HostCode::code_at(std::uint64_t address, std::uint64_t most) const {
  if (!elf_.is_code(address)) return {};
  return elf_.at_address(address).view().substr(0, most);
}

std::uint64_t HostCode::pointer_at(std::uint64_t address) const {
  const auto pointer = std::lower_bound(
      pointers_.begin(), pointers_.end(), address,
      [](const ElfPointer& row, std::uint64_t wanted) { return row.address < wanted; });
  return pointer != pointers_.end() && pointer->address == address ? pointer->target : 0;
}

std::uint64_t HostCode::behind_plt(std::uint64_t address) const {
  const std::string_view bytes = code_at(address, 12);
  const std::size_t jump = plt_jump(bytes);
  if (jump == std::string_view::npos || bytes.size() < jump + 6) return address;
  return pointer_at(target_of(bytes.data() + jump + 2, address + jump + 6));
}

std::vector<CodeReference> HostCode::references_to(
    const std::vector<std::uint64_t>& targets) const {
  std::vector<CodeReference> references;
  if (targets.empty()) return references;
  const CodeTargets wanted(targets, pointers_);
  if (elf_.machine() == aarch64) references_aarch64(wanted, references);
  if (elf_.machine() != x86_64) return references;

  // Each with the bytes behind it that its last instruction may take.
  constexpr std::size_t most_at_once = std::size_t{4} << 20;
  std::vector<std::pair<std::uint64_t, std::string_view>> parts;
  Budget budget(elf_.file(), "code");
  for (const auto& [first, end] : elf_.code()) {
    const std::string_view code = code_at(first, end - first);
    budget.take(code.size(), elf_.file().offset());
    for (std::size_t at = 0; at + load_length <= code.size(); at += most_at_once) {
      parts.emplace_back(first + at, code.substr(at, most_at_once + load_length - 1));
    }
  }
  std::vector<std::vector<CodeReference>> found(parts.size());
  side_by_side(threads_, parts.size(), [&](std::size_t part) {
    const std::uint64_t first = parts[part].first;
    const std::string_view code = parts[part].second;
    for_each_load(code, [&](std::size_t at) {
      const std::uint32_t bytes = four_bytes(code.data() + at);
      const std::uint64_t from = first + at;
      const std::uint64_t place = target_of(code.data() + at + 3, from + load_length);
      const std::uint64_t to = is_lea(bytes) ? wanted.direct(place) : wanted.indirect(place);
      if (to != 0) found[part].push_back({from, to, register_of(bytes)});
    });
  });
  for (const std::vector<CodeReference>& some : found) {
    references.insert(references.end(), some.begin(), some.end());
  }
  return references;
}

CodeReference HostCode::code_load_at(std::uint64_t at) const {
  if (elf_.machine() != x86_64) return {};
  const std::string_view code = code_at(at, load_length);
  if (code.size() < load_length) return {};
  const std::uint32_t bytes = four_bytes(code.data());
  if (!is_load(bytes)) return {};
  const std::uint64_t place = target_of(code.data() + 3, at + load_length);
  const std::uint64_t to = is_lea(bytes) ? place : pointer_at(place);
  if (!elf_.is_code(to)) return {};
  return {at, to, register_of(bytes)};
}

bool HostCode::is_call_at(std::uint64_t at) const {
  if (elf_.machine() != x86_64) return false;
  const std::string_view code = code_at(at, 5);
  if (code.size() < 5 || byte_of(code, 0) != 0xE8) return false;
  const std::uint64_t target = target_of(code.data() + 1, at + 5);
  return is_function(target) || plt_jump(code_at(target, 12)) != std::string_view::npos;
}

std::uint64_t HostCode::function_of(std::uint64_t address) const {
  auto function =
      std::upper_bound(functions_.begin(), functions_.end(), address,
                       [](std::uint64_t wanted, const auto& row) { return wanted < row.first; });
  if (function == functions_.begin()) return 0;
  --function;
  return address < function->second ? function->first : 0;
}

const CodeEdges& HostCode::edges(std::uint64_t function) {
  const auto [row, is_new] = edges_.try_emplace(function);
  if (is_new) row->second = read_edges(function);
  return row->second;
}

CodeEdges HostCode::read_edges(std::uint64_t function) const {
  CodeEdges edges;
  const auto row = std::lower_bound(
      functions_.begin(), functions_.end(), function,
      [](const auto& range, std::uint64_t wanted) { return range.first < wanted; });
  if (row == functions_.end() || row->first != function) return edges;
  std::string_view code = code_at(function, row->second - function);
  if (elf_.machine() == aarch64) {
    edges = edges_aarch64(function, code);
    make_unique_list(edges.calls);
    make_unique_list(edges.loads);
    return edges;
  }
  // The unwind table takes each PLT for one function: from its start on, or (`push [rip+]`) behind
  // the entry that asks the loader.
  if (code.starts_with("\xFF\x35")) return edges;
  if (const std::size_t jump = plt_jump(code); jump != std::string_view::npos) {
    code = code.substr(0, jump + 6);
  }
  const auto add_call = [&](std::uint64_t target, bool anywhere) {
    target = behind_plt(target);
    // Jumps lead to parts that compilers moved out of the way, which begin anywhere; a call leads
    // to a function's start, which tells nearly all chance hits from calls.
    const std::uint64_t start = anywhere ? function_of(target) : target;
    if (start != 0 && start != function && is_function(start)) edges.calls.push_back(start);
  };
  const auto add_load = [&](std::uint64_t target) {
    target = behind_plt(target);
    if (target != function && target != 0 && is_function(target)) edges.loads.push_back(target);
  };
  for (std::size_t at = 0; at + 5 <= code.size(); ++at) {
    const std::uint64_t address = function + at;
    const char* bytes = code.data() + at;
    switch (byte_of(code, at)) {
      case 0xE8:
      case 0xE9:
        add_call(target_of(bytes + 1, address + 5), byte_of(code, at) == 0xE9);
        break;
      case 0x0F:
        if (at + 6 <= code.size() && (byte_of(code, at + 1) & 0xF0) == 0x80) {
          add_call(target_of(bytes + 2, address + 6), true);
        }
        break;
      case 0xFF:
        if (at + 6 <= code.size() &&
            (byte_of(code, at + 1) == 0x15 || byte_of(code, at + 1) == 0x25)) {
          add_call(pointer_at(target_of(bytes + 2, address + 6)), false);
        }
        break;
      case 0x48:
      case 0x4C: {
        if (at + load_length > code.size() || !is_load(four_bytes(bytes))) break;
        const std::uint64_t place = target_of(bytes + 3, address + load_length);
        add_load(is_lea(four_bytes(bytes)) ? place : pointer_at(place));
        break;
      }
      default:
        break;
    }
  }
  make_unique_list(edges.calls);
  make_unique_list(edges.loads);
  return edges;
}

}  // namespace opseal
