#pragma once

#include <string>

#include "cli/config.h"
#include "cli/settings.h"
#include "tests/tree.h"

namespace opseal::test {

// What is wrong with a text as `opseal.toml`, or "none".
inline std::string complaint(const Tree& tree, const std::string& text) {
  tree.add("opseal.toml", text);
  try {
    read_config("opseal.toml");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
}

}  // namespace opseal::test
