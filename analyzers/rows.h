#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace opseal {

// Questions and answers travel between processes as rows of texts, each with its length before it,
// so that a text may hold any byte and a reader never looks for an end.
class RowWriter {
 public:
  void text(std::string_view value) {
    bytes_ += std::to_string(value.size());
    bytes_ += ':';
    bytes_ += value;
  }
  void count(std::size_t value) { text(std::to_string(value)); }
  void integer(std::int64_t value) { text(std::to_string(value)); }
  const std::string& bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }

 private:
  std::string bytes_;
};

// Reads them again. What is no row of texts, or too large to be a number, is the end, and `broken`.
class RowReader {
 public:
  explicit RowReader(std::string_view bytes) : bytes_(bytes) {}

  bool at_end() const { return broken_ || at_ == bytes_.size(); }
  bool broken() const { return broken_; }
  std::string_view text();
  std::uint32_t count();
  std::int64_t integer();
  // The number of texts that follow; no more than there are bytes.
  std::size_t size();

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  bool broken_ = false;
};

// A list of things, each read or written in place.
template <typename Item, typename Read>
std::vector<Item> read_list(RowReader& reader, Read read) {
  std::vector<Item> items;
  for (std::size_t left = reader.size(); left > 0 && !reader.at_end(); --left) {
    items.emplace_back();
    read(items.back());
  }
  return items;
}

void write_texts(const std::vector<std::string>& texts, RowWriter& writer);
std::vector<std::string> read_texts(RowReader& reader);

}  // namespace opseal
