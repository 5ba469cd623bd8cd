#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "opseal/facts.h"
#include "opseal/finding.h"

namespace opseal {

// What the facts about a registration mean. Each function names the facts that it reads.

// Number of inputs or outputs: at least `min`, at most `max`.
struct CountRange {
  std::uint32_t min = 0;
  std::uint32_t max = 0;

  static constexpr std::uint32_t unbounded = 0xffffffff;

  bool exact() const { return min == max; }
  bool has(std::uint64_t number) const { return number >= min && number <= max; }
};

// `inputs` or `outputs`, in any of its three spellings. A list of operands counts those that are
// neither optional nor variadic as the least. Not said where the list holds something unreadable.
Stated<CountRange> operand_count(const Fact& operands);

// "3 inputs", "2 to 3 inputs", "at least 2 inputs".
std::string to_text(const CountRange& range, std::string_view noun);

// `namespace::name`, with `@since` where the operator has versions and `#identity` where the
// registry keys by object. Without a namespace the manifest's system stands in, unless that is
// `engine`, which has no spelling of its own.
std::string subject_of(const Fact& manifest, const Fact& op);

// "`pkg/a.py:12`" of a Location for a message: quoted, since anybody can write anything into the
// name of a file. Empty when no file is said.
std::string place_text(const Fact& location);

// " (registered at `pkg/a.py:12`)" for a message, or empty when `location` is not said.
std::string site_of(const Fact& item);

// "name" of a Function for a message: quoted, with its place when that is said.
std::string function_text(const Fact& function);

// A kernel that serves calls: not shadowed (`active`), not left out of its table (`listed`), no
// `fallthrough`.
bool is_active_kernel(const Fact& kernel);

// `cpu`, `cpu numba`: platform and backend of a kernel, for messages.
std::string decision_text(const Fact& kernel);

// The text members of a list.
std::vector<std::string> texts_of(const Fact& list);
bool list_has(const Fact& list, std::string_view word);
// Every element was read.
bool all_read(const Fact& list);

// Evidence at a fact.
Evidence evidence(const Fact& fact, std::string label);

// Every operator of every manifest: calls `visit(manifest, op)`.
template <typename Visit>
void for_each_operator(const Facts& facts, Visit visit) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    for (const Fact op : manifest[Key::operators].items()) {
      if (op.said()) visit(manifest, op);
    }
  }
}

}  // namespace opseal
