#pragma once

#include <string>

#include "analyzers/source/invocations.h"

namespace opseal {

// A record with what every registration in C++ says: its condition, its macro and its place.
template <typename Record>
Record record_at(const SourceUnit& unit, const Invocation& invocation) {
  Record record;
  record.when = unit.conditions[invocation.condition];
  record.macro = std::string(invocation.through_macro);
  record.place = {unit.file, invocation.offset, invocation.length};
  return record;
}

}  // namespace opseal
