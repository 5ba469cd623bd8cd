#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opseal/facts.h"

namespace opseal {

// What the user states about the run: platforms that every operator must serve, architectures of
// the fleet.
struct StatedSettings {
  struct Text {
    std::string value;
    // Bytes of `file`.
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
  };
  // The text that states it: the configuration, or the command line.
  InputFile file;
  std::vector<Text> platforms;
  std::vector<Text> architectures;
};

// Adds what is stated as a document of its own (`Document::settings`), so that rules hear it like
// any other statement and can point at it. Nothing when it states nothing.
void state_settings(const StatedSettings& stated, Facts& facts);

}  // namespace opseal
