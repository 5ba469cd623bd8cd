#pragma once

#include <map>
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
  // There may be others.
  bool open_ended = false;
  SourcePlace declared_place;
  // Of those whose type is written beside the name, in opseal's spelling.
  std::map<std::string, std::string> declared_types;
  std::vector<PlacedName> read;
  // As what their bytes are read, where that is one thing; by name.
  std::map<std::string, PlacedName> read_types;
  // Of `createPlugin`.
  SourcePlace place;
};

// Adds what the methods of creators name that one file defines.
void read_plugin_fields(const PlainSource& source, std::vector<PluginFields>& fields);

}  // namespace opseal
