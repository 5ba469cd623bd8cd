#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/python/registrations.h"

namespace opseal {

// Something that goes into a key, or into a build.
struct PythonKeyPart {
  // In the code, without `self.`; that of the variable where it is one of the environment.
  std::string name;
  // opseal's word for what it stands for; empty where its name doesn't tell.
  std::string input;
  // As in `key_parts` of a manifest.
  std::string_view form = "value";
  PythonPlace place;
  // Callers may put anything into it, an architecture as well as a setting.
  bool open = false;
};

// A cache of built code: a function that makes a digest, and a build whose output it names.
struct PythonCache {
  std::string name;
  // Of the function that makes the key.
  PythonPlace place;
  std::string hash;
  PythonPlace hash_place;
  std::vector<PythonKeyPart> parts;
  // There are none but these.
  bool parts_known = false;
  // Each of them has a word, and nothing else than the key decides about a build.
  bool inputs_known = false;
  // What callers, settings and devices hand to the build.
  std::vector<PythonKeyPart> reads;
  bool reads_known = false;
  // Two parts of any length follow each other with nothing between them.
  std::optional<PythonPlace> unseparated;
  // There are some, and a text that is written out stands between them.
  std::optional<PythonPlace> separated;
  // Entries are held against their sources by these times alone.
  std::optional<PythonPlace> by_time;
  // An entry that is there is taken, whatever it was built from.
  std::optional<PythonPlace> by_presence;
  // Of a function that is compiled once for each value of some of its arguments: the names of all,
  // and those that its settings and tuners name beside the key.
  std::vector<std::string> arguments;
  std::vector<PythonKeyPart> handed;
  // How many settings a tuner tries on the arguments of a call, as far as nothing but `handed` is
  // put back in between; and the arguments whose memory each of these runs changes again.
  std::optional<std::uint32_t> tried;
  PythonPlace tried_place;
  std::vector<PythonKeyPart> changed;
  // The rest is said in a comment above the function: `# opseal: cache-key(NAME; …)`.
  std::string kind = "disk";
  std::string backs;
  std::vector<std::string> required;
  // What the comment lists there and is no word for an input.
  std::vector<std::string> unknown_words;
};

// Whether a file can hold such a cache at all. Costs a fraction of parsing.
bool may_hold_caches(std::string_view text);

std::vector<PythonCache> find_python_caches(const ParsedPython& file);

}  // namespace opseal
