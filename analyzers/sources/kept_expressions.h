#pragma once

#include <cstdint>
#include <vector>

#include "analyzers/source/invocations.h"
#include "analyzers/source/tokens.h"

namespace opseal {

// Tells whether the pointer that an expression gives outlives its statement: it goes to a variable,
// a member, an element, or back to the caller, through casts, `?:` and lists in braces.
class KeptExpressions {
 public:
  // `partners`: see Invocations.
  KeptExpressions(const std::vector<Token>& tokens, const std::vector<std::uint32_t>& partners)
      : tokens_(tokens), partners_(partners) {}

  // Of the tokens [start, end).
  bool is_kept(std::uint32_t start, std::uint32_t end) const;

 private:
  struct Range {
    std::uint32_t start = 0;
    std::uint32_t end = 0;
  };

  bool is(std::uint32_t at, char punctuator) const {
    return at < tokens_.size() && tokens_[at].is(punctuator);
  }
  std::uint32_t opening(std::uint32_t close) const;
  std::uint32_t closing(std::uint32_t open) const;
  std::uint32_t end_of_arm(std::uint32_t at) const;
  std::uint32_t before_operand(std::uint32_t at) const;
  std::uint32_t list_around(std::uint32_t at) const;
  bool unwrap_cast(Range& range) const;
  bool unwrap_choice(Range& range) const;
  bool unwrap_list(Range& range) const;
  bool is_value_of_declaration(const Range& list) const;
  bool is_added_to_container(const Range& range) const;

  const std::vector<Token>& tokens_;
  const std::vector<std::uint32_t>& partners_;
};

}  // namespace opseal
