#pragma once

#include <cstdint>
#include <vector>

#include "analyzers/python/registrations.h"
#include "analyzers/source/plain_source.h"

namespace opseal {

// What readers of a source as it is written ask of its tokens.
class PlainCode {
 protected:
  // Needs: the source outlives this.
  explicit PlainCode(const PlainSource& source)
      : source_(source), tokens_(source.unit.tokens), partners_(source.shape.partners) {}

  const Token& token(std::uint32_t at) const { return tokens_[at]; }
  bool is_dot(std::uint32_t at) const { return token(at).is('.') || token(at).is("->"); }
  PythonPlace place_of(std::uint32_t at) const { return {token(at).offset, token(at).length}; }

  const PlainSource& source_;
  const std::vector<Token>& tokens_;
  // Of brackets, by token.
  const std::vector<std::uint32_t>& partners_;
};

}  // namespace opseal
