#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzers/python/python_code.h"

namespace opseal {

enum class Build : std::uint8_t {
  none,
  // A compiler is started, and nothing looks whether it has to.
  compiler,
  // Something that judges by itself what is out of date.
  judged,
  // The same, in a folder that the caller names: two builds of one folder are one library.
  folder,
};

// What a command starts, by the words in it.
Build build_by(const std::set<std::string_view>& words);

// CUDA's compiler as a library, by whatever function the project calls it.
bool compiles_in_process(std::string_view name);

// The expression behind `build_directory=` of a loader's call, or none.
SyntaxIndex build_folder_of(const PythonCode& code, SyntaxIndex call);

// A call that starts a build, and by which way it was reached.
struct Started {
  SyntaxIndex call = no_syntax;
  const FlowFrame* frame = nullptr;
};

class BuildStarts {
 public:
  static constexpr std::uint32_t max_helpers = 3;

  // What a loader does where it is not told in which folder: PyTorch's takes one by the name, that
  // of TVM-FFI one of its own key.
  Build loader(SyntaxIndex call) const;

  // Needs: the code outlives this.
  explicit BuildStarts(PythonCode& code) : code_(code) {}

  // The builds that a function starts through so many others.
  std::vector<Started> of(SyntaxIndex function, std::uint32_t depth) {
    std::vector<Started> builds;
    find_builds(function, nullptr, depth, builds);
    return builds;
  }

 private:
  bool starts(SyntaxIndex call) const;
  void find_builds(SyntaxIndex function, const FlowFrame* frame, std::uint32_t depth,
                   std::vector<Started>& builds);
  bool may_start(SyntaxIndex function, std::uint32_t depth);

  PythonCode& code_;
  std::map<std::pair<SyntaxIndex, std::uint32_t>, bool> starters_;
};

}  // namespace opseal
