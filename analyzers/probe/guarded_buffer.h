#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace opseal {

// Memory for one operand of a called kernel: its bytes begin at a multiple of 64, as frameworks
// promise, and lie between zones of a known pattern and pages that can't be touched. What is
// written into a zone is found afterwards, and what goes further ends the process with the place
// known. At the guarded end the zone is what the alignment leaves, below 64 bytes.
class GuardedBuffer {
 public:
  // Which end lies next to pages that can't be touched; the other one has a zone of up to a page.
  enum class Side { end, start };

  // `name` is what last words call it: no blanks.
  GuardedBuffer(std::size_t bytes, std::string name, Side side = Side::end);
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  ~GuardedBuffer();

  std::span<unsigned char> bytes() { return {data_, size_}; }
  std::span<const unsigned char> bytes() const { return {data_, size_}; }
  const std::string& name() const { return name_; }

  // The byte next to the buffer that was written to although it is not its own: negative before it,
  // from its size on behind it.
  std::optional<std::int64_t> trespass() const;
  // Puts the pattern back.
  void mend();

 private:
  unsigned char* region_ = nullptr;
  std::size_t region_size_ = 0;
  unsigned char* data_ = nullptr;
  std::size_t size_ = 0;
  std::string name_;
};

// From now on a bad access to memory, or an abort, sends last words (probe/child.h) before it ends
// the process:
//   `guard NAME OFFSET read|write|access` beside a guarded buffer, in bytes from its start;
//   `fault ADDRESS read|write|access` elsewhere, in hexadecimal; `signal NUMBER`.
// Also when the stack is full.
void tell_of_faults();

}  // namespace opseal
