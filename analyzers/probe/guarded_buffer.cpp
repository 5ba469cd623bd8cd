#include "analyzers/probe/guarded_buffer.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>

#include "analyzers/probe/child.h"

namespace opseal {
namespace {

constexpr std::size_t alignment = 64;
// Unlike the poisons of results, and no number that a kernel likes to write.
constexpr unsigned char pattern = 0xC3;
// Pages on each side: a kernel that is off by a row goes further than one of them.
constexpr std::size_t guard_pages = 16;

std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// What a signal handler can read: regions of living buffers. A slot is free while `begin` is 0.
struct Region {
  std::atomic<std::uintptr_t> begin{0};
  std::uintptr_t end = 0;
  std::uintptr_t data = 0;
  std::array<char, 64> name{};
};
std::array<Region, 4096> regions;

void enter(std::uintptr_t begin, std::size_t size, std::uintptr_t data, const std::string& name) {
  for (Region& region : regions) {
    std::uintptr_t none = 0;
    // One is a mark: taken, and not filled in yet.
    if (!region.begin.compare_exchange_strong(none, 1)) continue;
    region.end = begin + size;
    region.data = data;
    region.name.fill('\0');
    std::copy_n(name.begin(), std::min(name.size(), region.name.size() - 1), region.name.begin());
    region.begin.store(begin);
    return;
  }
}

void leave(std::uintptr_t begin) {
  for (Region& region : regions) {
    if (region.begin.load() == begin) region.begin.store(0);
  }
}

// Text in a fixed place, since a signal handler must not ask for memory.
class Words {
 public:
  void text(const char* text) {
    while (*text != '\0') put(*text++);
  }
  void number(std::uint64_t value, unsigned base) {
    std::array<char, 24> digits{};
    std::size_t length = 0;
    do {
      digits[length++] = "0123456789abcdef"[value % base];
      value /= base;
    } while (value != 0);
    while (length > 0) put(digits[--length]);
  }
  void integer(std::int64_t value) {
    if (value < 0) put('-');
    number(value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value),
           10);
  }
  std::string_view view() const { return {bytes_.data(), length_}; }

 private:
  void put(char byte) {
    if (length_ < bytes_.size()) bytes_[length_++] = byte;
  }

  std::array<char, 256> bytes_{};
  std::size_t length_ = 0;
};

const char* kind_of_access([[maybe_unused]] const void* context) {
#if defined(__x86_64__)
  // Bit 1 of the processor's error code says that it was a write.
  const auto* machine = static_cast<const ucontext_t*>(context);
  return (machine->uc_mcontext.gregs[REG_ERR] & 2) != 0 ? "write" : "read";
#else
  return "access";
#endif
}

void on_signal(int signal, siginfo_t* info, void* context) {
  Words words;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const bool fault = signal == SIGSEGV || signal == SIGBUS;
  const Region* inside = nullptr;
  for (const Region& region : regions) {
    const std::uintptr_t begin = region.begin.load();
    if (fault && begin > 1 && address >= begin && address < region.end) inside = &region;
  }
  if (inside != nullptr) {
    words.text("guard ");
    words.text(inside->name.data());
    words.text(" ");
    words.integer(static_cast<std::int64_t>(address - inside->data));
    words.text(" ");
    words.text(kind_of_access(context));
  } else if (fault && info->si_code > 0) {
    words.text("fault ");
    words.number(address, 16);
    words.text(" ");
    words.text(kind_of_access(context));
  } else {
    words.text("signal ");
    words.integer(signal);
  }
  say_last_words(words.view());
  // Its own handler is gone (SA_RESETHAND): this one ends the process.
  ::raise(signal);
}

}  // namespace

GuardedBuffer::GuardedBuffer(std::size_t bytes, std::string name, Side side)
    : size_(bytes), name_(std::move(name)) {
  const std::size_t guard = guard_pages * page_size();
  // A page of its own also where nothing is in it: its address has to be one that may be touched.
  const std::size_t inner = round_up(std::max<std::size_t>(bytes, 1), page_size());
  region_size_ = inner + 2 * guard;
  void* region =
      ::mmap(nullptr, region_size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (region == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  region_ = static_cast<unsigned char*>(region);
  if (::mprotect(region_ + guard, inner, PROT_READ | PROT_WRITE) != 0) {
    const int error = errno;
    ::munmap(region_, region_size_);
    throw std::system_error(error, std::generic_category(), "mprotect");
  }
  data_ = region_ + guard;
  if (side == Side::end) data_ += inner - round_up(std::max<std::size_t>(bytes, 1), alignment);
  mend();
  enter(reinterpret_cast<std::uintptr_t>(region_), region_size_,
        reinterpret_cast<std::uintptr_t>(data_), name_);
}

GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept
    : region_(std::exchange(other.region_, nullptr)),
      region_size_(other.region_size_),
      data_(other.data_),
      size_(other.size_),
      name_(std::move(other.name_)) {}

GuardedBuffer::~GuardedBuffer() {
  if (region_ == nullptr) return;
  leave(reinterpret_cast<std::uintptr_t>(region_));
  ::munmap(region_, region_size_);
}

std::optional<std::int64_t> GuardedBuffer::trespass() const {
  const std::size_t guard = guard_pages * page_size();
  const unsigned char* begin = region_ + guard;
  const unsigned char* end = region_ + region_size_ - guard;
  // The nearest one tells most.
  for (const unsigned char* at = data_ + size_; at < end; ++at) {
    if (*at != pattern) return at - data_;
  }
  for (const unsigned char* at = data_; at > begin; --at) {
    if (at[-1] != pattern) return at - 1 - data_;
  }
  return {};
}

void GuardedBuffer::mend() {
  const std::size_t guard = guard_pages * page_size();
  unsigned char* begin = region_ + guard;
  unsigned char* end = region_ + region_size_ - guard;
  std::fill(begin, data_, pattern);
  std::fill(data_ + size_, end, pattern);
}

void tell_of_faults() {
  // A full stack leaves no room for a handler: it gets one of its own.
  static std::array<unsigned char, 65536> stack;
  stack_t other{};
  other.ss_sp = stack.data();
  other.ss_size = stack.size();
  ::sigaltstack(&other, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | static_cast<int>(SA_RESETHAND);
  ::sigemptyset(&action.sa_mask);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    ::sigaction(signal, &action, nullptr);
  }
}

}  // namespace opseal
