#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rules/two_dumps.h"

namespace opseal {

// What kernels take, as texts that can be compared: a dtype in opseal's spelling, behind the name
// of its type variable where it has one, or a whole combination.
struct ServedDtypes {
  struct Entry {
    std::string text;
    // Where it is said.
    Fact where;
    // The type variable in front of it; empty where there is none.
    std::string_view variable = {};
  };
  // Sorted by text, each once.
  std::vector<Entry> entries;
  // Every kernel says this, and everything that it says was read.
  bool complete = true;
};

// Of some kernels by one of the keys `dtypes`, `signatures` and `type_constraints`. Where
// `without_failed`, leaves out the dtypes that a kernel is said to have `failed` on or `refused`.
ServedDtypes served_dtypes(const std::vector<ServingKernel>& kernels, Key key, bool without_failed);

// Of one list of dtypes or one map of lists.
ServedDtypes dtypes_of(const Fact& words);

// Entries of `from` that `in` lacks. Words that may mean the same (`float`, `f32`) are the same,
// and so are type variables of two names that stand for the same dtypes, or that are all that came
// and went.
std::vector<ServedDtypes::Entry> lacking(const ServedDtypes& from, const ServedDtypes& in);

// opseal's spelling of a dtype, or the word itself.
std::string_view canonical_dtype(std::string_view word);

}  // namespace opseal
