#pragma once

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "analyzers/native/elf.h"

namespace opseal {

// Few addresses among millions: most questions end at one bit.
class AddressSet {
 public:
  void add(std::uint64_t address, std::uint64_t to) { rows_.push_back({address, to}); }
  void finish() {
    std::sort(rows_.begin(), rows_.end());
    for (const auto& [address, to] : rows_) (*marks_)[hash(address)] = true;
  }
  // 0: not among them.
  std::uint64_t find(std::uint64_t address) const {
    if (!(*marks_)[hash(address)]) return 0;
    const auto row =
        std::lower_bound(rows_.begin(), rows_.end(), std::pair{address, std::uint64_t{0}});
    return row != rows_.end() && row->first == address ? row->second : 0;
  }

 private:
  static constexpr int bits = 18;
  static std::size_t hash(std::uint64_t address) {
    return static_cast<std::size_t>(address * 0x9E3779B97F4A7C15u >> (64 - bits));
  }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> rows_;
  std::unique_ptr<std::bitset<std::size_t{1} << bits>> marks_ =
      std::make_unique<std::bitset<std::size_t{1} << bits>>();
};

// Addresses that code is asked about: by themselves, and by the pointers that lead to them.
class CodeTargets {
 public:
  CodeTargets(const std::vector<std::uint64_t>& targets, const std::vector<ElfPointer>& pointers) {
    for (const std::uint64_t target : targets) direct_.add(target, target);
    direct_.finish();
    for (const ElfPointer& pointer : pointers) {
      if (direct_.find(pointer.target) != 0) indirect_.add(pointer.address, pointer.target);
    }
    indirect_.finish();
  }

  // The address itself where it is one of them, else 0.
  std::uint64_t direct(std::uint64_t address) const { return direct_.find(address); }
  // What the pointer at an address leads to where that is one of them, else 0.
  std::uint64_t indirect(std::uint64_t address) const { return indirect_.find(address); }

 private:
  AddressSet direct_;
  AddressSet indirect_;
};

}  // namespace opseal
