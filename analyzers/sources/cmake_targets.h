#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace opseal {

// Bytes of a CMakeLists.txt.
struct CmakeWord {
  std::string text;
  // Index of the file in the order of `CmakeTargets::add`.
  std::uint32_t file = 0;
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
};

enum class CmakeKind : std::uint8_t {
  // A static library: of its objects the linker takes those that something names.
  archive,
  // A program, or a library that is loaded: all of its own objects are in it.
  linked,
  // A library that is one or the other, or nothing by itself.
  other,
};

struct CmakeTarget {
  CmakeKind kind = CmakeKind::other;
  // Paths as reports name them. Of a pattern `*` is a part of a name, `**` of a path.
  std::vector<std::string> sources;
  // All of its sources are there, and it is made in one place.
  bool whole = true;
  // What it is linked with, plainly.
  std::vector<CmakeWord> links;
  // What it takes every object of.
  std::vector<std::string> whole_links;
};

// Targets that the CMakeLists.txt of a tree make, as far as they are written out.
class CmakeTargets {
 public:
  // `folder`: of the file, as reports name it, without `/` at its end.
  void add(std::string_view folder, std::string_view bytes);

  const std::map<std::string, CmakeTarget>& targets() const { return targets_; }
  // Something there makes linkers keep whole archives, or names the objects of one.
  bool keeps_whole() const { return keeps_whole_; }

 private:
  struct Command;
  void run(const Command& command, std::string_view folder);
  void add_sources(CmakeTarget& target, const std::vector<CmakeWord>& words, std::size_t from,
                   std::string_view folder);
  // The words that one stands for; false where that isn't known.
  bool expand(const std::string& text, std::vector<std::string>& words) const;

  std::map<std::string, CmakeTarget> targets_;
  // Of the file that is read. Empty: not known.
  std::map<std::string, std::vector<std::string>> variables_;
  std::uint32_t files_ = 0;
  bool keeps_whole_ = false;
};

}  // namespace opseal
