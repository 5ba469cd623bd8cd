#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzers/source/plain_source.h"
#include "analyzers/sources/records.h"

namespace opseal {

// Which fields a creator of plugins says to take, and which it looks for when it makes one.
struct PluginFields {
  // The class.
  std::string owner;
  // Nothing where it isn't known what is declared.
  std::optional<std::vector<PlacedName>> declared;
  SourcePlace declared_place;
  std::vector<PlacedName> read;
  // Of `createPlugin`.
  SourcePlace place;
};

// Adds what the methods of creators name that one file defines.
void read_plugin_fields(const PlainSource& source, std::vector<PluginFields>& fields);

}  // namespace opseal
