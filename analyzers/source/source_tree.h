#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/source/header.h"
#include "analyzers/source/macros.h"
#include "analyzers/source/needles.h"
#include "analyzers/source/vocabulary.h"
#include "analyzers/source/word_index.h"

namespace opseal {

// Gives the bytes of a file; false when they can't be had.
using ReadSource = std::function<bool(const std::string& path, std::string& bytes)>;

// The sources of one project: which files there are, what their headers define, and which files a
// scan must look at. All but `discover` may be called by several threads at once.
class SourceTree {
 public:
  // Headers above this many bytes define nothing.
  static constexpr std::size_t most_header_bytes = 2 << 20;

  // `paths` are all files that a walk found, in any order, with `/`; those without a suffix of C++
  // are of no use. Needs: the vocabulary outlives the tree.
  // `stated_macros`: `#define` lines that hold whatever the project's own files define.
  SourceTree(std::vector<std::string> paths, const Vocabulary& vocabulary, ReadSource read,
             std::string stated_macros = {});
  SourceTree(const SourceTree&) = delete;
  SourceTree& operator=(const SourceTree&) = delete;
  ~SourceTree();

  // Lexes the headers that mention a needle, and adds the names of their macros that lead to a
  // registration to the needles. Without it files that register by such macros alone are missed.
  // `may_hold`: whether a file may have one of some words; then no other is opened for them.
  // `may_start`: likewise whether it may mention a needle, or one of `macro_starts`.
  using MayHold = std::function<bool(FileId file, const WordQuery& words)>;
  using MayStart = std::function<bool(FileId file)>;
  void discover(const MayHold& may_hold = {}, const MayStart& may_start = {});
  // Words beside the needles by which a macro is known that registers through an object.
  static std::vector<std::string> macro_starts() { return {".impl(", ".def("}; }

  const Vocabulary& vocabulary() const { return vocabulary_; }
  std::size_t size() const { return paths_.size(); }
  const std::string& path(FileId file) const { return paths_[file]; }
  bool read(FileId file, std::string& bytes) const { return read_(paths_[file], bytes); }

  // Whether the bytes mention a needle or one of `project_macros`.
  bool has_needle(std::string_view bytes) const { return needles_->occur_in(bytes); }
  // Sorted.
  const std::vector<std::string>& project_macros() const { return project_macros_; }

  // The file that `#include "text"` in another file means: beside it, or else the one whose path
  // ends with the text, and of several the one that shares most of its folders with the file that
  // asks. `no_file` when the project has none.
  FileId resolve(std::string_view text, FileId from) const;

  // The directives of a file, lexed when first asked for. An unreadable or too large file has none.
  const Header& header(FileId file) const;
  // The prelude of the vocabulary.
  const Header& prelude() const { return *prelude_; }
  const Header& stated_macros() const { return *stated_macros_; }

 private:
  std::vector<std::string> first_needles() const;
  std::vector<FileId> suffixes_of(std::string_view text) const;
  std::vector<std::string> macros_that_register(const std::vector<FileId>& headers) const;

  std::vector<std::string> paths_;
  const Vocabulary& vocabulary_;
  ReadSource read_;
  std::unique_ptr<const Header> prelude_;
  std::unique_ptr<const Header> stated_macros_;
  // All files, in the order of their paths read backwards.
  std::vector<FileId> by_suffix_;
  std::vector<std::string> project_macros_;
  std::unique_ptr<Needles> needles_;
  mutable std::unique_ptr<std::atomic<const Header*>[]> headers_;
};

// Whether a path ends as C++, CUDA, HIP, Objective-C++ or SYCL sources and headers do.
bool is_source_path(std::string_view path);
// Whether it ends as a header, or as a file that is made to be included.
bool is_header_path(std::string_view path);

}  // namespace opseal
