#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "analyzers/source/word_index.h"

namespace opseal {

// The files of a tree by number: their bytes, and which words they may have.
class SourceTexts {
 public:
  // Gives the bytes of a file; false when they can't be had.
  using Read = std::function<bool(std::size_t file, std::string& bytes)>;

  // Without an index any file may have any word. Needs: the index outlives this.
  SourceTexts(Read read, const WordIndex* words = nullptr)
      : read_(std::move(read)), words_(words) {}

  bool read(std::size_t file, std::string& bytes) const { return read_(file, bytes); }

  bool may_hold(std::size_t file, const WordQuery& words) const {
    return words_ == nullptr || words_->may_hold(file, words);
  }
  // The bytes of a file that may have one of the words; false for others.
  bool read_holding(const WordQuery& words, std::size_t file, std::string& bytes) const {
    return may_hold(file, words) && read_(file, bytes);
  }

 private:
  Read read_;
  const WordIndex* words_;
};

}  // namespace opseal
