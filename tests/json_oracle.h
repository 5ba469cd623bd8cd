#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "opseal/facts.h"

namespace opseal::test {

// Writes random JSON documents with awkward white space, escapes and numbers, none of which has
// equal keys. The same seed gives the same documents everywhere.
class DocumentWriter {
 public:
  explicit DocumentWriter(std::uint32_t seed) : random_(seed) {}

  std::string document();
  std::string text();
  std::string number();
  std::string space();
  // Below `bound`; the library's distributions differ between implementations.
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }

 private:
  std::string value(int depth);

  std::mt19937 random_;
};

// What the reader says about a whole document with a window of so many bytes.
struct Verdict {
  // No problem and no error.
  bool clean = false;
  std::vector<Problem> problems;
};
Verdict read_whole(std::string_view bytes, std::size_t window);

// Walks a document with the reader and with nlohmann's tree side by side. Every value's text or
// number must be equal, and the bytes at the place that the reader names must parse to that value.
// Returns the first difference, or an empty text; `values` counts what was compared.
std::string first_difference(const std::string& bytes, std::size_t window, std::size_t& values);

}  // namespace opseal::test
