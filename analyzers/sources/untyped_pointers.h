#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/source/plain_source.h"
#include "analyzers/sources/records.h"
#include "opseal/build_condition.h"

namespace opseal {

// An argument whose memory is read as one fixed type: `(int*)index.data_ptr()`.
struct UntypedPointer {
  // A function, and where it has the tensor among its parameters.
  struct Holder {
    std::string function;
    std::size_t position = 0;
  };

  std::string function;
  std::string name;
  // The function itself, and those that hand their own argument on to it. Whose callers were
  // looked at already comes first.
  std::vector<Holder> holders;
  std::size_t asked = 0;
  // Those from `asked` to here are looked at in this round.
  std::size_t ending = 1;
  // As written, without the cast.
  std::string expression;
  std::string cast;
  // The function, or somebody who calls it, asks for its dtype; false: nobody does, and nothing
  // else is done with it that may. Not there where that isn't known.
  std::optional<bool> checked;
  BuildCondition when;
  SourcePlace place;
};

// Whether a file casts what `data_ptr()` gives to point to whole numbers.
bool casts_untyped_pointers(std::string_view bytes);

void read_untyped_pointers(const PlainSource& source, std::vector<UntypedPointer>& pointers);

// Names of functions whose callers are to be looked at: all of these sources, then the next round.
// What is handed on too often is not known.
std::vector<std::string> untyped_holders(std::vector<UntypedPointer*>& pointers);

// A source may call the holders of a round: what it asks for counts for them.
void read_untyped_callers(const PlainSource& source, std::vector<UntypedPointer*>& pointers);

// Those that were looked at in this round are done.
void end_untyped_round(std::vector<UntypedPointer*>& pointers);

// Python that names the function or the argument, and whole numbers of 32 bits, may convert it.
void read_untyped_python(std::string_view bytes, std::vector<UntypedPointer*>& pointers);

}  // namespace opseal
