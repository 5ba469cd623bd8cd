#pragma once

#include <map>
#include <string>
#include <string_view>

#include "analyzers/source/invocations.h"
#include "analyzers/source/preprocessor.h"
#include "analyzers/source/source_tree.h"

namespace opseal::test {

// A project in memory, of which one file is read: `a/main.cpp`.
class SourceReader {
 public:
  using Files = std::map<std::string, std::string>;

  explicit SourceReader(std::string text, Files others = {}, PreprocessorLimits limits = {});

  // All tokens as one line.
  std::string text() const { return text_of(unit.tokens); }
  // One line for each invocation: `m.impl["x"][f] if A via REG in TORCH_LIBRARY_IMPL`.
  std::string invocations() const;
  // What the file has at a place.
  std::string_view at(std::uint32_t offset, std::uint32_t length) const;
  // The condition of the token with such a text, or what to say when there is none.
  std::string condition_of(std::string_view token) const;

  Files files;
  SourceTree tree;
  SourceUnit unit;
  Invocations found;
};

}  // namespace opseal::test
