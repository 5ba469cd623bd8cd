#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzers/native/elf.h"

namespace opseal {

// What the code of a host library (x86-64, AArch64) shows about itself, without its symbol table:
// by function ranges of the unwind table, calls, jumps and addresses that code loads. On x86-64
// found by bytes, not by decoding: an instruction that stands inside another one's operand is
// believed, too.

// An instruction that loads an address: by itself (`lea`), or from a pointer that the loader fills
// in (`mov` from the global offset table).
struct CodeReference {
  // Of the instruction's first byte.
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  // Number of the register (0-15) that gets it.
  std::uint8_t to_register = 0;
};

// Where control goes from one function, as starts of functions of this file.
struct CodeEdges {
  // Calls and jumps, through the PLT, too.
  std::vector<std::uint64_t> calls;
  // Functions whose address it loads.
  std::vector<std::uint64_t> loads;
};

class CodeTargets;

class HostCode {
 public:
  // Empty for other machines. `elf` must outlive it. Throws InputError. Passes over all of the code
  // of x86-64 are made on up to `threads` threads.
  explicit HostCode(const Elf& elf, unsigned threads = 1);

  const Elf& elf() const { return elf_; }
  const std::vector<ElfPointer>& pointers() const { return pointers_; }

  // Loads of the addresses, which are sorted; in the order of code. One pass over all of it. Throws
  // InputError.
  std::vector<CodeReference> references_to(const std::vector<std::uint64_t>& targets) const;
  // The load of an address of code that begins at `at`; its `to` is 0 where there is none, and on
  // other machines than x86-64.
  CodeReference code_load_at(std::uint64_t at) const;
  // Whether a call of something in this file, or of its PLT, begins at `at`; x86-64 only.
  bool is_call_at(std::uint64_t at) const;

  // Start of the function that holds an address; 0: none.
  std::uint64_t function_of(std::uint64_t address) const;
  bool is_function(std::uint64_t address) const { return function_of(address) == address; }
  // Of the function that starts there. Read when asked for, and kept.
  const CodeEdges& edges(std::uint64_t function);

 private:
  CodeEdges read_edges(std::uint64_t function) const;
  void references_aarch64(const CodeTargets& targets, std::vector<CodeReference>& references) const;
  // Unsorted. `code`: of the function.
  CodeEdges edges_aarch64(std::uint64_t function, std::string_view code) const;
  std::uint64_t behind_plt_aarch64(std::uint64_t address) const;
  // What stands at an address of code, up to `most` bytes.
  std::string_view code_at(std::uint64_t address, std::uint64_t most) const;
  // What the pointer at an address leads to within the file; 0: nothing.
  std::uint64_t pointer_at(std::uint64_t address) const;
  // Of a jump through a pointer (a PLT entry), where that leads to within the file, or 0; else the
  // address itself.
  std::uint64_t behind_plt(std::uint64_t address) const;

  const Elf& elf_;
  unsigned threads_;
  // Sorted.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> functions_;
  std::vector<ElfPointer> pointers_;
  std::unordered_map<std::uint64_t, CodeEdges> edges_;
};

struct HostKernel {
  // Device name, as the host hands it to the CUDA runtime.
  std::string_view name;
  // Address of the host stub; 0: the name is there and its stub was not found.
  std::uint64_t stub = 0;
};

// The kernels among `names` that stand in read-only data of the host, behind whatever byte, and
// those of them that its code registers: it loads the name's address and, next to it, that of the
// stub. In the order of `names`; a name that stands nowhere is one that the host can't register.
// Throws InputError.
std::vector<HostKernel> find_host_kernels(const HostCode& code,
                                          const std::vector<std::string_view>& names);

// The kernels that the function at `address` can reach, in the order of `kernels`: whatever is
// called, jumped to, or whose address is loaded on the way. More than it launches, since no
// condition is looked at and a function that is only registered counts as called; and less, where
// calls go through tables of functions (virtual functions, dispatch tables in data) or into other
// libraries.
std::vector<std::string_view> reachable_kernels(HostCode& code,
                                                const std::vector<HostKernel>& kernels,
                                                std::uint64_t address);

}  // namespace opseal
