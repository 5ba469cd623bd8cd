#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzers/source/invocations.h"
#include "analyzers/source/tokens.h"

namespace opseal {

struct EnumeratorRow {
  std::string_view enumerator;
  // Of the enumerator.
  std::uint32_t token = 0;
  // The last name of what stands beside it, and the first text that does; empty in a set, and where
  // nothing (`nullptr`, `false`) is there.
  std::string_view value;
  std::string_view text;
  bool has_value = false;
};

// `NAME = {A, B}`, `NAME = {{A, f}, {B, g}}` or `NAME[] = {[A] = f, [B] = g}`: what a predicate or
// a dispatch may look a value up in.
struct EnumeratorTable {
  std::string_view name;
  // Index into `CodeFunctions::files`.
  std::uint32_t file = 0;
  std::uint32_t name_token = 0;
  // It has a value beside each.
  bool maps = false;
  // `[A] = f`: what isn't there is nothing.
  bool designated = false;
  // `{"a", A}`: texts with what they stand for.
  bool reversed = false;
  std::vector<EnumeratorRow> rows;

  const EnumeratorRow* row_of(std::string_view enumerator) const;
};

// Those of a file that have two rows or more, all of one form. Whether their words are enumerators
// is for the caller to say.
std::vector<EnumeratorTable> find_enumerator_tables(Tokens tokens,
                                                    const std::vector<std::uint32_t>& partners,
                                                    std::uint32_t file);

}  // namespace opseal
