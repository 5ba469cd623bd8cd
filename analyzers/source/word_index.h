#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace opseal {

// Some words, of which a file may have one.
class WordQuery {
 public:
  // Of `a::b` and `.b(` the last word counts; what has none is taken to be in every file.
  template <typename Words>
  explicit WordQuery(const Words& words) : filter_(filter_bits / 64) {
    for (const auto& word : words) add(word);
    settle();
  }

 private:
  friend class WordIndex;
  static constexpr std::size_t filter_bits = 1 << 16;

  void add(std::string_view text);
  void settle();
  bool has(std::uint32_t mark) const;

  // Sorted.
  std::vector<std::uint32_t> marks_;
  std::vector<std::uint64_t> filter_;
  bool always_ = false;
};

// Which words each file of a tree has, comments and texts included, so that who looks for a few
// names need not open the files that have none of them. A word is what C++ and Python take for one;
// bytes beyond ASCII are parts of words. Kept are marks of 32 bits, so that a file may be taken to
// have a word that it doesn't, and never the other way round; a word that a line end with `\` cuts
// in two is not found.
class WordIndex {
 public:
  explicit WordIndex(std::size_t files) : files_(files) {}

  // Needs: each file once, by one thread; several threads may add at once.
  void add(std::size_t file, std::string_view text);
  // A file that wasn't added has no words.
  bool may_hold(std::size_t file, const WordQuery& words) const;

 private:
  struct File {
    std::vector<std::uint32_t> marks;
    // More words than are kept.
    bool always = false;
  };
  std::vector<File> files_;
};

}  // namespace opseal
