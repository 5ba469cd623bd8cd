#include "analyzers/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace opseal {

ByteSource ByteSource::file(const std::string& path) {
  ByteSource source;
  // Not blocking on open, so that a named pipe in a tree can't stop the run; directories fail at
  // the first read.
  source.descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (source.descriptor_ < 0) {
    source.error_ = std::strerror(errno);
    return source;
  }
  struct stat status {};
  if (::fstat(source.descriptor_, &status) != 0) {
    source.error_ = std::strerror(errno);
  } else if (!S_ISREG(status.st_mode)) {
    source.error_ = "not a regular file";
  } else {
    source.size_ = static_cast<std::uint64_t>(status.st_size);
  }
  return source;
}

ByteSource ByteSource::memory(std::string_view bytes) {
  ByteSource source;
  source.bytes_ = bytes;
  source.size_ = bytes.size();
  return source;
}

ByteSource::ByteSource(ByteSource&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      bytes_(other.bytes_),
      position_(other.position_),
      size_(other.size_),
      error_(std::move(other.error_)) {}

ByteSource::~ByteSource() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::size_t ByteSource::read(char* to, std::size_t size) {
  if (!error_.empty()) return 0;
  if (descriptor_ < 0) {
    const std::size_t taken = std::min<std::size_t>(size, bytes_.size() - position_);
    std::copy_n(bytes_.data() + position_, taken, to);
    position_ += taken;
    return taken;
  }
  for (;;) {
    const ssize_t got = ::read(descriptor_, to, size);
    if (got >= 0) {
      position_ += static_cast<std::uint64_t>(got);
      return static_cast<std::size_t>(got);
    }
    if (errno == EINTR) continue;
    error_ = std::strerror(errno);
    return 0;
  }
}

bool ByteSource::move_to(std::uint64_t offset) {
  if (!error_.empty()) return false;
  offset = std::min(offset, size_);
  if (descriptor_ >= 0 && ::lseek(descriptor_, static_cast<off_t>(offset), SEEK_SET) < 0) {
    error_ = std::strerror(errno);
    return false;
  }
  position_ = offset;
  return true;
}

std::string read_all(int descriptor) {
  std::string bytes;
  std::size_t used = 0;
  for (;;) {
    bytes.resize(used + 65536);
    const ssize_t got = ::read(descriptor, bytes.data() + used, bytes.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    used += static_cast<std::size_t>(got);
  }
  bytes.resize(used);
  return bytes;
}

}  // namespace opseal
