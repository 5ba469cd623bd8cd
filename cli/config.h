#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/cache_description.h"
#include "analyzers/sources/pair_description.h"
#include "opseal/facts.h"

namespace opseal {

// A text of the configuration and where it stands in the file.
struct ConfigText {
  std::string value;
  // Bytes.
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

// A finding or a change that is known and accepted.
struct Silence {
  // Rule id, kind of change, or glob; subject or glob.
  ConfigText rule;
  std::string subject = "*";
  std::string reason;
};

// What an `opseal.toml` says. Empty where it says nothing.
struct Config {
  // Its bytes stay with it, so that findings can point into it.
  InputFile file;
  // Of the file, absolute; its patterns are relative to it.
  std::string directory;
  std::string profile;
  std::string fail_on;
  std::string tier;
  std::vector<ConfigText> select;
  std::vector<ConfigText> ignore;
  std::vector<ConfigText> exclude;
  std::vector<ConfigText> platforms;
  std::vector<ConfigText> architectures;
  // Rule id or glob -> error, warning, note.
  std::vector<std::pair<ConfigText, std::string>> severity;
  std::vector<Silence> silence;
  // Each the names of registrations that are one operator.
  std::vector<std::vector<ConfigText>> joins;
  // `NAME` or `NAME(parameters)` -> what it stands for, on one line.
  std::vector<std::pair<ConfigText, std::string>> macros;
  // Their paths as written; `base` is empty.
  std::vector<CacheDescription> caches;
  // Support predicates with the functions that they speak for.
  std::vector<PairDescription> pairs;
};

// The nearest `opseal.toml` in `directory` or above it; empty when there is none.
std::string find_config(const std::string& directory);

// The keys that may stand at the top of one.
std::span<const std::string_view> config_key_names();

// Throws UsageError, with file, line and column, for what is no TOML, for unknown keys (with the
// nearest known one) and for values of the wrong type.
Config read_config(const std::string& path);

}  // namespace opseal
