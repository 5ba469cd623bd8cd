#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "analyzers/native/byte_reader.h"

namespace opseal {

// How much work the parts of a file may ask for together. Each may be small and whole, and yet
// thousands of them may show the same bytes: names that are ends of one long text, functions that
// share one body. Sound files show each byte about once.
class Budget {
 public:
  // `what`: of which there would be too many bytes, for the message.
  Budget(const Bytes& file, const char* what, std::uint64_t multiple = 8)
      : what_(what), most_(std::uint64_t{1 << 20} + file.size() * multiple), left_(most_) {}

  // Throws InputError at `at`, in bytes of the file, where less is left.
  void take(std::uint64_t bytes, std::uint64_t at) {
    if (bytes > left_) {
      throw InputError(at, 0,
                       std::string(what_) + " of more than " + std::to_string(most_) +
                           " bytes, as parts of the file show the same bytes again and again");
    }
    left_ -= bytes;
  }
  std::string_view take(std::string_view text, std::uint64_t at) {
    take(text.size() + 1, at);
    return text;
  }

 private:
  const char* what_;
  std::uint64_t most_;
  std::uint64_t left_;
};

}  // namespace opseal
