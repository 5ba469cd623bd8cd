#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

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

  std::unordered_map<std::string, std::vector<SourceFunction>> found_;
};

}  // namespace opseal
