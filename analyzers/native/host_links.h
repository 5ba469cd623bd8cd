#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzers/native/elf.h"

namespace opseal {

// What the code of a host library (x86-64) shows about itself, without its symbol table: by
// function ranges of the unwind table, calls, jumps and addresses that code loads.

// A RIP-relative address that code loads.
struct CodeReference {
  // Of the instruction's first byte.
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  // Number of the register (0-15) that gets it.
  std::uint8_t to_register = 0;
};

// One walk over the code, from which everything else is worked out.
class HostCode {
 public:
  // Throws InputError. Empty for machines other than x86-64.
  explicit HostCode(const Elf& elf);

  const std::vector<CodeReference>& references() const { return references_; }
  // Start of the function that holds an address; 0: none.
  std::uint64_t function_of(std::uint64_t address) const;
  // Starts of the functions that one leads to: calls and jumps, code addresses that it loads, and
  // PLT entries that end in this file. An over-approximation: found by bytes, not by decoding.
  const std::vector<std::uint64_t>& callees(std::uint64_t function) const;
  const std::vector<ElfPointer>& pointers() const { return pointers_; }

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> functions_;
  std::vector<CodeReference> references_;
  std::vector<ElfPointer> pointers_;
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> callees_;
};

struct HostKernel {
  // Device name, as the host hands it to the CUDA runtime.
  std::string_view name;
  // Address of the host stub; 0: the name is there and its stub was not found.
  std::uint64_t stub = 0;
};

// The kernels among `names` that the host code registers.
std::vector<HostKernel> find_host_kernels(const Elf& elf, const HostCode& code,
                                          const std::vector<std::string_view>& names);

// Those among `names` that stand in read-only data of the host, behind whatever byte: a name that
// stands nowhere is one that the host can't register.
std::vector<std::string_view> names_in_data(const Elf& elf,
                                            const std::vector<std::string_view>& names);

}  // namespace opseal
