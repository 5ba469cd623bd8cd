#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/source/plain_source.h"
#include "analyzers/sources/records.h"
#include "opseal/build_condition.h"

namespace opseal {

// A tensor that a function is given and takes a pointer from.
struct LayoutArgument {
  std::string name;
  // As written, `x.data_ptr<float>()`.
  std::string expression;
  // Position among the parameters.
  std::size_t position = 0;
  // The function, or somebody who calls it, makes sure that it is dense; false: nobody does, and
  // nothing else is done with it that may. Not there where that isn't known.
  std::optional<bool> contiguous;
  BuildCondition when;
  SourcePlace place;
};

struct LayoutFunction {
  std::string name;
  std::vector<LayoutArgument> arguments;
};

// Functions that make sure of some of their tensors and not of others.
void read_layouts(const PlainSource& source, std::vector<LayoutFunction>& functions);

// Another source calls these: what it makes sure of counts for them.
void read_layout_callers(const PlainSource& source, std::vector<LayoutFunction*>& functions);

// The same for Python, which is held against the names of the arguments alone.
void read_layout_python(std::string_view bytes, std::vector<LayoutFunction*>& functions);

}  // namespace opseal
