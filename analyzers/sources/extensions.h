#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzers/source/invocations.h"
#include "analyzers/sources/declarations.h"
#include "analyzers/sources/placed_writer.h"
#include "analyzers/sources/records.h"
#include "analyzers/sources/source_texts.h"

namespace opseal {

// What C++ gives Python beside any registry: `PYBIND11_MODULE(_C, m) { m.def("f", &f); }`, and the
// places of Python that ask for it.

// One `m.def(…)`.
struct BoundFunction {
  // Behind the submodules: `ops.`.
  std::string submodule;
  PlacedName name;
  // What is bound, as far as it is a function by name or a lambda.
  SourceFunction function;
  // Where it, or what it calls in the tree, chooses by dtype.
  std::vector<DispatchSite> dispatches;
  // `py::arg("x")`, in order. `says_arguments`: there is at least one.
  std::vector<std::string> arguments;
  std::uint32_t defaults = 0;
  bool says_arguments = false;
  // Something makes the number of arguments another one than the parameters tell.
  bool unclear = false;
  BuildCondition when;
  std::string macro;
  SourcePlace place;
};

// The body of a module, or of a function that is handed one.
struct ExtensionBlock {
  // Module: its name; empty where the build says it (`TORCH_EXTENSION_NAME`).
  std::string name;
  bool module = false;
  // Function: its name without qualifiers.
  std::string function;
  std::vector<BoundFunction> functions;
  // Every text in the body: whatever is not read as a function is at least known by name.
  std::set<std::string> texts;
  // Functions that are handed the module, with the submodule that they fill.
  std::vector<std::pair<std::string, std::string>> calls;
  // Something may give it names that can't be read.
  bool open = false;
  SourcePlace place;
};

// Adds the texts of a file that fills modules by Python's own interface for C, since one of them
// may be a name in any module. False where it does nothing like it.
bool read_module_texts(std::string_view bytes, std::set<std::string>& texts);

// `PYBIND11_MODULE`, `NB_MODULE`, and functions that take a module.
void read_extensions_cpp(const SourceUnit& unit, const Invocations& found,
                         std::vector<ExtensionBlock>& blocks);

// A place of Python that takes something from a module.
struct ExtensionUse {
  // The module as a report names it, and what is asked of it.
  std::string module;
  PlacedName name;
  bool called = false;
  std::uint32_t positional = 0;
  std::vector<std::string> names;
  // `*args` or `**kwargs`.
  bool open_ended = false;
  // It is fine if nothing is there.
  bool asks_whether = false;
  SourcePlace place;
};

struct ExtensionFunction {
  // Behind the module: `f`, `ops.f`.
  std::string name;
  const BoundFunction* bound = nullptr;
};

// A module as Python sees it: what all that its name may mean define.
struct ExtensionModule {
  std::string name;
  std::vector<ExtensionFunction> functions;
  // `ops.`
  std::set<std::string> submodules;
  std::set<std::string> texts;
  bool open = false;
  // Nobody says which of several modules it is, so that it is all of them.
  bool guessed = false;
};

struct ExtensionTree {
  // By name.
  std::vector<ExtensionModule> modules;
  std::vector<ExtensionUse> uses;
};

// The modules of a tree and what its Python asks them for. `paths`: of the files, sorted; blocks
// outlive the result.
// `others`: names that modules may have from elsewhere. `partial`: not all of the tree is given, so
// that nothing is told of what Python asks for.
ExtensionTree find_extension_uses(const std::vector<ExtensionBlock>& blocks,
                                  const std::set<std::string>& others,
                                  const std::vector<std::string>& paths, bool partial,
                                  const SourceTexts& texts);

// Functions that are a forward or a backward by their names, where there are both.
std::vector<BoundFunction*> gradient_functions(std::vector<ExtensionBlock>& blocks);

// Writes `functions`, and `uses` where there are any. Needs: an open document.
void write_extensions(const ExtensionTree& tree, PlacedWriter& writer);

}  // namespace opseal
