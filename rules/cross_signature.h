#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "opseal/registration.h"
#include "rules/cross_join.h"

namespace opseal {

// What a registration says about its call, counted alike for every system: tensors are inputs and
// outputs, everything else is an attribute.
struct CrossSignature {
  struct Named {
    // As written; empty where it has none.
    std::string_view name;
    // `fold_word` of it.
    std::string folded;
    bool mutated = false;
  };

  // Where each is said; an absent fact where nobody did.
  Fact inputs_at;
  Fact outputs_at;
  Fact attributes_at;
  CountRange inputs;
  // Results that are no input handed back.
  CountRange outputs;
  // Every tensor among the inputs says whether it is written.
  bool says_mutation = false;
  std::uint32_t mutated = 0;
  // Tensors among the inputs, as far as they are listed, and attributes, each sorted by `folded`.
  std::vector<Named> operands;
  std::vector<Named> attributes;
  // Everything that a target writes is a result: XLA owns what it is handed.
  bool target = false;

  // The first of that name, or nullptr.
  const Named* find_operand(const std::string& folded) const;
  const Named* find_attribute(const std::string& folded) const;
  // Results, and inputs that are written and may be results elsewhere.
  CountRange produced() const;
};

// `inputs`, `outputs`, `attributes`, else `schema`; of a target `spec`. Operators with more than
// `most_operands` operands or attributes say nothing.
CrossSignature read_signature(const CrossColumn& column);

// How bad a difference is that would break callers: an error where the join is sure.
Severity severity_of_break(const CrossColumn& a, const CrossColumn& b);
// The same for what may be a decision: a warning where the join is sure.
Severity severity_of_decision(const CrossColumn& a, const CrossColumn& b);

}  // namespace opseal
