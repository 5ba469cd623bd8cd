#pragma once

#include <string_view>
#include <unordered_set>
#include <vector>

namespace opseal {

// What a Python file imports, as far as its lines alone tell, for a look at whether parsing the
// file is worth it: every word of its import statements, and where these stand. Lines of texts that
// look like imports count too.
class PythonImportLines {
 public:
  // Needs: the text outlives this.
  explicit PythonImportLines(std::string_view text);

  // A word of some import: part of a module, a name, another name for it.
  bool has(std::string_view word) const { return words_.contains(word); }
  // `from . import x`, whose module has no name here.
  bool has_nameless() const { return nameless_; }
  // `from m import *`
  bool has_star() const { return star_; }
  // Whether a word that begins at an offset may be an imported thing: within an import, or the last
  // part of `a.b.word`, `a` being imported.
  bool may_mean_import(std::size_t begin) const;

 private:
  void read_statement(std::size_t begin, std::size_t end);

  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  std::string_view text_;
  std::vector<Range> statements_;
  std::unordered_set<std::string_view> words_;
  bool nameless_ = false;
  bool star_ = false;
};

}  // namespace opseal
