#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzers/source/plain_source.h"
#include "analyzers/sources/records.h"

namespace opseal {

// How a plugin turns into bytes and back, as far as its methods do nothing else: the names of what
// they count, write and read, in that order. Nothing where a method does anything else.
struct PluginStorage {
  // The class.
  std::string owner;
  std::string method;
  std::optional<std::vector<std::string>> names;
  SourcePlace place;
};

// Adds what `getSerializationSize`, `serialize`, and the constructor that takes bytes (or
// `deserialize`, both as `deserialize`) of classes name.
void read_plugin_storage(const PlainSource& source, std::vector<PluginStorage>& storage);

}  // namespace opseal
