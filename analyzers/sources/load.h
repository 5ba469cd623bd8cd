#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/sources/pair_description.h"
#include "analyzers/sources/typed_options.h"
#include "opseal/facts.h"

namespace opseal {

// C++ and Python sources that are read as one input, since what one file defines another one
// implements.
struct SourceFolder {
  // What reports name where the tree as a whole is meant.
  InputFile place;
  // Sorted by path.
  std::vector<InputFile> files;
  // Other files of the project may say more.
  bool partial = false;
  // Predicates and their dispatches that the configuration names.
  std::vector<PairDescription> pairs{};
};

// Where a tree uses a macro that the configuration explains.
struct MacroUse {
  // Somewhere with as many arguments as it is explained with.
  bool fits = false;
  // The first use with another number of them; nothing where every use fits.
  struct Misfit {
    InputFile file;
    std::uint32_t offset = 0;
    std::uint32_t length = 0;
    std::uint32_t arguments = 0;
  };
  std::optional<Misfit> misfit{};
};

// By name of the macro.
using MacroUses = std::map<std::string, MacroUse>;

// What a tree of sources registers, from its text alone: nothing is compiled, run or imported. A
// document for each system that anything is registered with; for most folders there is nothing.
// `stated_macros`: `#define` lines that hold whatever the sources themselves define; `uses`, where
// given, gets those that are used. `typed`: whether libclang is asked for the rest.
Facts load_sources(SourceFolder folder, unsigned threads, const std::string& stated_macros = {},
                   MacroUses* uses = nullptr, const TypedOptions& typed = {});

// Whether a file is read as a source, by its name.
bool is_source(std::string_view path);

// Whether a path below a given directory is of tests, benchmarks, examples, documentation, tools or
// a vendored project: what these register, often broken on purpose, is not the project's.
bool is_aside(std::string_view path);

}  // namespace opseal
