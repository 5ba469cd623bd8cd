#pragma once

#include <string>
#include <vector>

#include "analyzers/source/invocations.h"
#include "analyzers/sources/placed_writer.h"
#include "analyzers/sources/records.h"

namespace opseal {

// `// @BE name [token …]`: brainevent makes a wrapper around that function.
struct AnnotationRecord {
  PlacedName name;
  // Behind the name; none: they are guessed from the function.
  std::vector<PlacedName> spec;
  enum class Function { unknown, missing, found } state = Function::unknown;
  SourceFunction function;
  // What it takes, each a word of a spec; `?` where the type has none.
  std::vector<std::string> parameters;
  BuildCondition when;
  SourcePlace place;
};

void read_annotations(const SourceUnit& unit, const Invocations& found,
                      std::vector<AnnotationRecord>& records);

// Needs: an open document.
void write_annotations(const std::vector<AnnotationRecord>& records, PlacedWriter& writer);

}  // namespace opseal
