#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzers/source/plain_source.h"
#include "analyzers/sources/records.h"
#include "opseal/build_condition.h"

namespace opseal {

// A pointer into the memory of a tensor that is kept beyond the statement which takes it.
struct KeptPointer {
  std::string expression;
  // What keeps the memory alive: `named` (a variable or member), `temporary` (a new tensor that
  // dies with the statement); else empty.
  std::string_view holder;
  // Of a variable's address: the type of the variable, the number that it begins as, and the type
  // that is read from there. Of a temporary its type, where that is known.
  std::string type;
  std::string value;
  std::string cast;
  std::string function;
  BuildCondition when;
  SourcePlace place;
  // Told by libclang.
  bool typed = false;
};

// Whether a file takes a pointer from what a call gives: others are not read for it.
bool takes_pointers_of_calls(std::string_view bytes);

// Addresses of numbers that are cast to another floating type.
void read_casts(const PlainSource& source, std::vector<KeptPointer>& pointers);

void read_pointers(const PlainSource& source, std::vector<KeptPointer>& pointers);

}  // namespace opseal
