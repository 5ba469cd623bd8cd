#pragma once

#include <string>
#include <utility>

#include "opseal/facts.h"

namespace opseal::test {

// An input of these bytes, which lie in no file.
inline InputFile memory_input(std::string bytes, std::string path) {
  InputFile input;
  input.path = std::move(path);
  input.size = bytes.size();
  input.bytes = std::move(bytes);
  return input;
}

}  // namespace opseal::test
