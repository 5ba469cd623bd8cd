#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace opseal {

// A file as bytes in memory, read as they are touched. Another process may cut it short meanwhile:
// what was cut off then reads as zeros and `changed` tells, where a plain mapping would end the
// program with a bus error.
class MappedFile {
 public:
  // Throws InputError where the file can't be opened or is no regular file.
  explicit MappedFile(const std::string& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::string_view bytes() const { return {bytes_, size_}; }
  // Its size or time of change is another one than when it was opened.
  bool changed() const;

 private:
  int descriptor_ = -1;
  char* bytes_ = nullptr;
  std::size_t size_ = 0;
  std::int64_t changed_seconds_ = 0;
  std::int64_t changed_nanoseconds_ = 0;
};

}  // namespace opseal
