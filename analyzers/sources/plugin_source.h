#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "analyzers/source/plain_source.h"

namespace opseal {

// The class of a function, without its namespaces: that of `X::f`, or the one around it; empty for
// a free one.
std::string class_of(const PlainSource& source, const Scope& function);

// Texts that have a name in a file: `NAME{"x"}`, `NAME = "x"`, `NAME[] = "x"`, `#define NAME "x"`.
class TextConstants {
 public:
  // Needs: the source outlives this.
  explicit TextConstants(const PlainSource& source) : source_(source) {}

  // Empty where it isn't known; one with two values has none. The file is read when first asked.
  const std::string& of(std::string_view name);

 private:
  void read();
  void add(std::string_view name, std::string value);

  const PlainSource& source_;
  bool read_ = false;
  std::unordered_map<std::string_view, std::string> values_;
};

}  // namespace opseal
