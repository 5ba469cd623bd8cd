#include "analyzers/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>

#include "analyzers/input_error.h"

namespace opseal {
namespace {

// What is mapped now. A signal handler may read only what needs no lock.
struct Range {
  std::atomic<std::uintptr_t> first{0};
  std::atomic<std::uintptr_t> end{0};
};
std::array<Range, 64> ranges;
std::mutex ranges_mutex;
struct sigaction before {};

bool is_mapped(std::uintptr_t address) {
  for (const Range& range : ranges) {
    if (address >= range.first.load() && address < range.end.load()) return true;
  }
  return false;
}

// A page of the file that is no longer there: zeros take its place, and reading goes on.
void fill_page(int number, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const auto page = static_cast<std::uintptr_t>(4096);
  void* const start = reinterpret_cast<void*>(address / page * page);
  if (is_mapped(address) && ::mmap(start, page, PROT_READ, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS,
                                   -1, 0) != MAP_FAILED) {
    return;
  }
  if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction != nullptr) {
    before.sa_sigaction(number, info, context);
    return;
  }
  ::signal(number, SIG_DFL);
}

void handle_bus_errors() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = fill_page;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGBUS, &action, &before);
  });
}

// False where so many files are open that one more can't be guarded.
bool guard(std::uintptr_t first, std::uintptr_t end) {
  const std::lock_guard lock(ranges_mutex);
  for (Range& range : ranges) {
    if (range.end.load() != 0) continue;
    range.first.store(first);
    range.end.store(end);
    return true;
  }
  return false;
}

void unguard(std::uintptr_t first) {
  const std::lock_guard lock(ranges_mutex);
  for (Range& range : ranges) {
    if (range.end.load() == 0 || range.first.load() != first) continue;
    range.end.store(0);
    range.first.store(0);
    return;
  }
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) throw InputError(0, 0, std::strerror(errno));
  struct stat status {};
  const bool known = ::fstat(descriptor_, &status) == 0;
  if (!known || !S_ISREG(status.st_mode)) {
    const std::string reason = known ? "not a regular file" : std::strerror(errno);
    ::close(descriptor_);
    throw InputError(0, 0, reason);
  }
  size_ = static_cast<std::size_t>(status.st_size);
  changed_seconds_ = status.st_mtim.tv_sec;
  changed_nanoseconds_ = status.st_mtim.tv_nsec;
  if (size_ == 0) return;
  handle_bus_errors();
  void* const at = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor_, 0);
  const auto first = reinterpret_cast<std::uintptr_t>(at);
  if (at == MAP_FAILED || !guard(first, first + size_)) {
    const std::string reason =
        at == MAP_FAILED ? std::strerror(errno) : "too many files are open at once";
    if (at != MAP_FAILED) ::munmap(at, size_);
    ::close(descriptor_);
    throw InputError(0, 0, reason);
  }
  bytes_ = static_cast<char*>(at);
}

MappedFile::~MappedFile() {
  if (bytes_ != nullptr) {
    unguard(reinterpret_cast<std::uintptr_t>(bytes_));
    ::munmap(bytes_, size_);
  }
  ::close(descriptor_);
}

bool MappedFile::changed() const {
  struct stat status {};
  return ::fstat(descriptor_, &status) != 0 || static_cast<std::size_t>(status.st_size) != size_ ||
         status.st_mtim.tv_sec != changed_seconds_ ||
         status.st_mtim.tv_nsec != changed_nanoseconds_;
}

}  // namespace opseal
