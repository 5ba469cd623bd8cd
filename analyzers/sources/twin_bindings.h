#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/source/plain_source.h"
#include "analyzers/sources/placed_writer.h"
#include "analyzers/sources/records.h"

namespace opseal {

// A method that C++ gives a class of Python, with the names of all its arguments.
struct MethodBinding {
  // `Class.method`, by the name of the class in C++ without its namespaces.
  std::string name;
  std::vector<std::string> parameters;
  std::uint32_t defaults = 0;
  SourcePlace place;
};

bool may_bind_methods(std::string_view bytes);

// `py::class_<T>(m, "T").def("run", &T::run, py::arg("x"), py::arg("y") = 1)`, also of a variable
// or a parameter of that type.
void read_method_bindings(const PlainSource& source, std::uint32_t number,
                          std::vector<MethodBinding>& bindings);

// Those of one name that two files have, each once.
std::vector<MethodBinding> twin_bindings(std::vector<MethodBinding> all);

// Writes `functions`, each with its folder as the module. Needs: an open document.
void write_twin_bindings(const std::vector<MethodBinding>& twins,
                         const std::vector<std::string>& paths, PlacedWriter& writer);

}  // namespace opseal
