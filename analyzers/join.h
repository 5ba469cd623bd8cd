#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opseal/facts.h"

namespace opseal {

// What the user states about the run: platforms that every operator must serve, architectures of
// the fleet, registrations that are one operator.
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
  std::vector<std::vector<Text>> joins;
};

// Adds what is stated as a document of its own (`Document::settings`), so that rules hear it like
// any other statement and can point at it. Nothing when it states nothing.
void state_settings(const StatedSettings& stated, Facts& facts);

// Adds a remark for each name in a `joins` that names nothing: it would compare nothing, and look
// like a comparison that found no difference.
void remark_lost_joins(Facts& facts);

}  // namespace opseal
