#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/python/gradients.h"
#include "analyzers/sources/placed_writer.h"
#include "analyzers/sources/records.h"
#include "analyzers/sources/saved_counts.h"

namespace opseal {

// The system of functions that differentiate themselves and are in no registry, so that no rule
// takes them for operators of torch.
inline constexpr std::string_view autograd_system = "torch-autograd";

// What is said of a class beside its counts.
struct AutogradFacts {
  struct Named {
    std::string name;
    SourcePlace place;
  };
  // See `PythonFunctionFacts`.
  std::vector<Named> writes;
  std::optional<std::vector<std::string>> marked;
  std::vector<Named> asked;
  std::vector<std::string> made;
  // The backward, as it is called with the gradients of so many results.
  SourceFunction backward;
  std::uint32_t results = 0;
  SavedCounts saved;

  bool empty() const {
    return writes.empty() && asked.empty() && results == 0 && saved.taken.empty();
  }
};

// One count of gradients that a function with its own backward hands back.
struct AutogradRecord {
  std::string name;
  // Tells functions of one name apart, and the counts of one function; said where there are
  // several.
  std::string identity;
  SourcePlace place;
  SourceFunction forward;
  std::string backward;
  SourcePlace backward_place;
  // Without the nones at the end that no input asks for; not said where the text doesn't tell.
  std::optional<std::uint32_t> returns;
  SourcePlace returns_place;
  std::string batching;
  SourcePlace batching_place;
  bool separated = false;
  std::vector<PythonGradientGuard> guards;
  std::vector<RuleCall> calls;
  // Said with the first count of a class.
  AutogradFacts facts;
};

// A class with the counts that its text tells.
struct AutogradClass {
  std::string name;
  SourcePlace place;
  // Without the context.
  SourceFunction forward;
  std::string backward;
  SourcePlace backward_place;
  std::vector<GradientCount> returns;
  std::string batching;
  SourcePlace batching_place;
  bool separated = false;
  std::vector<PythonGradientGuard> guards;
  // What it is exported by, called with a graph and what the forward is given.
  SourceFunction symbolic;
  AutogradFacts facts;
};

// The classes of a Python file.
std::vector<AutogradClass> autograd_classes(const std::vector<PythonAutograd>& classes,
                                            std::uint32_t file);
// Those of a C++ file that derive from `torch::autograd::Function`, and are written as a whole in
// one place.
std::vector<AutogradClass> autograd_classes(std::string_view bytes, std::uint32_t file);

// The counts of the classes of one file.
void add_autograd(const std::vector<AutogradClass>& classes, std::string_view path,
                  std::vector<AutogradRecord>& records);

// Writes `operators`. Needs: an open document.
void write_autograd(const std::vector<AutogradRecord>& records, PlacedWriter& writer);

}  // namespace opseal
