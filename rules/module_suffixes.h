#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "opseal/facts.h"

namespace opseal {

// `pkg/_x` of `pkg/_x.cpython-310-x86_64-linux-gnu.so`.
std::string_view module_stem(std::string_view path);

// `cpython-310` where the file's name binds it to one version of the interpreter, else empty.
std::string_view module_interpreter(std::string_view path);

// Whether interpreters that a wheel is for find a module by the name of its file.
enum class Finds : std::uint8_t {
  // Some do, or it can't be said.
  some,
  // None: the tags are for others.
  none,
  // One version, of all that a tag such as `py3-none` is for.
  one_of_many,
};

// By the suffixes `.cpython-310-…`; free-threaded ones are versions of their own.
Finds finds_module(const Fact& tags, std::string_view interpreter);

// The files of a wheel by the module that each is.
class ModuleFiles {
 public:
  explicit ModuleFiles(const Fact& manifest);

  // Something else is imported under that name by every interpreter, or by some that `tags` are
  // for: a file without a version, a Python file, a package.
  bool has_other(std::string_view path, const Fact& tags) const;

 private:
  void add(std::string_view path);

  // By stem, the interpreters of the files; empty where it is for all.
  std::unordered_map<std::string_view, std::vector<std::string_view>> files_;
};

}  // namespace opseal
