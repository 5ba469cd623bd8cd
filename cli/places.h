#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli/place_names.h"
#include "opseal/facts.h"

namespace opseal {

// Where a place is, as people and editors count.
struct Position {
  // Both from 1; columns count Unicode code points. 0: there is none (a binary file), or it
  // isn't known (the file can't be read any more).
  std::uint64_t line = 0;
  std::uint64_t column = 0;
  // The place just behind the last byte.
  std::uint64_t end_line = 0;
  std::uint64_t end_column = 0;
};

// Works out lines and columns when a report needs them, reading each file once.
class Places {
 public:
  explicit Places(const Facts& facts) : facts_(facts) {}
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;
  ~Places();

  Position position(const Location& where);
  // The line around a place without its line break, cut to `width` code points around it; `caret`
  // is the column of the place in what is returned, from 0, and `carets` how many code points of it
  // are shown, at least 1.
  struct Excerpt {
    std::string text;
    std::size_t caret = 0;
    std::size_t carets = 1;
  };
  Excerpt excerpt(const Location& where, std::size_t width);

 private:
  struct File {
    bool ready = false;
    bool readable = false;
    // -1 while closed.
    int descriptor = -1;
    std::uint64_t size = 0;
    // Offset of the first byte of each line.
    std::vector<std::uint64_t> lines;
    // Bytes in front of each block of `block_size` bytes that continue a code point, so that a
    // column is found without counting through a file that is one line.
    std::vector<std::uint64_t> continuations;
  };
  static constexpr std::uint64_t block_size = 4096;

  // Descriptors open at once, at most: a process has a thousand, and a tree may have more files.
  static constexpr std::size_t most_open = 16;

  File& file(std::uint32_t number);
  bool open(File& file, std::uint32_t number);
  void close_all();
  void index(File& file, std::uint32_t number);
  std::string read(const File& file, std::uint32_t number, std::uint64_t from,
                   std::uint64_t size) const;
  std::uint64_t continuations_before(const File& file, std::uint32_t number,
                                     std::uint64_t offset) const;
  void set_line(const File& file, std::uint32_t number, std::uint64_t offset, std::uint64_t& line,
                std::uint64_t& column) const;

  const Facts& facts_;
  std::map<std::uint32_t, File> files_;
  std::size_t open_files_ = 0;
};

}  // namespace opseal
