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
  // `from m import *`
  bool has_star() const { return star_; }
  // Whether a word that begins at an offset may be a thing of a module, whose last part `is_part`
  // is asked about: one that is imported there, or the end of `m.word`, `m` being imported. Of
  // `from . import word` the module has no name, and may be any.
  template <typename IsPart>
  bool may_mean(std::size_t begin, const IsPart& is_part) const {
    bool any = false;
    for (const std::string_view part : modules_of(begin, any)) {
      if (is_part(part)) return true;
    }
    return any;
  }

 private:
  struct Statement {
    std::size_t begin = 0;
    std::size_t end = 0;
    // Of `from m`: its last part; empty for `import m`.
    std::string_view module;
    std::vector<std::string_view> words;
    bool nameless = false;
    // Something gets another name.
    bool renames = false;
  };

  void read_statement(std::size_t begin, std::size_t end);
  std::vector<std::string_view> modules_of(std::size_t begin, bool& any) const;

  std::string_view text_;
  std::vector<Statement> statements_;
  std::unordered_set<std::string_view> words_;
  std::size_t renaming_ = 0;
  bool star_ = false;
};

}  // namespace opseal
