#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzers/source/tokens.h"
#include "analyzers/sources/records.h"

namespace opseal {

// Where C++ functions of given names are declared or defined, and what they take: a registration
// often stands in another file than the function.
class Declarations {
 public:
  // Base names, without `A::`.
  void want(std::string_view name) { found_.try_emplace(std::string(name)); }
  bool wants_any() const { return !found_.empty(); }

  // Looks for declarations in the bytes of a file.
  void scan(std::string_view bytes, std::uint32_t file);

  // Fills in what a function takes, if the declarations that it may mean agree: those of its own
  // file, else those of the folder that shares most of the path, else all of them.
  // `paths`: of the files, by number.
  void complete(SourceFunction& function, const std::vector<std::string>& paths) const;
  // Those declarations, which take equally many parameters; none where they don't agree.
  std::vector<const SourceFunction*> meant_by(const SourceFunction& function,
                                              const std::vector<std::string>& paths) const;

 private:
  struct Candidates {
    // As `meant_by` gives them.
    std::vector<const SourceFunction*> chosen;
    // Those of the function's own file, else of the nearest folder.
    std::vector<const SourceFunction*> nearest;
  };
  Candidates candidates_of(const SourceFunction& function,
                           const std::vector<std::string>& paths) const;

  // A name that a macro of a file pastes in front of a list of parameters: `f_##KIND(int x)`.
  struct Pasted {
    std::string head;
    std::string tail;
  };
  bool is_pasted(std::string_view name, std::uint32_t file) const;
  void note_pasted(std::span<const Token> directive, std::uint32_t file);

  // Of the file that is scanned, kept for the next one.
  std::vector<Token> row_;
  std::vector<Token> directive_;
  std::unordered_map<std::string, std::vector<SourceFunction>> found_;
  // By file.
  std::unordered_map<std::uint32_t, std::vector<Pasted>> pasted_;
};

}  // namespace opseal
