#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzers/source/invocations.h"
#include "analyzers/source/tokens.h"

namespace opseal {

// What an expression is worth, as somebody worked it out who knows more than the text.
struct StatedValue {
  // Bytes of the file.
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
  std::string enumerator;
};

// What is stated of one file. Both are sorted by place and don't overlap.
struct StatedEnumerators {
  std::vector<StatedValue> values;
  // Names that several enumerations have, with the enumeration that each means.
  std::vector<StatedValue> enumerations;

  bool empty() const { return values.empty() && enumerations.empty(); }
};

// Makes one name of each expression of which it is stated what it is worth. `values` are sorted and
// don't overlap.
void put_values(const std::vector<StatedValue>& values, TextArena& arena,
                std::vector<Token>& tokens);

// The expression within brackets, casts and `to_underlying`.
TokenRange without_casts(Tokens tokens, const std::vector<std::uint32_t>& partners,
                         TokenRange range);

// Constants and macros that are other names of enumerators: `constexpr Op kAdd = Op::Add;`,
// `#define ADD Op::Add`, `enum Code { CODE_ADD = int(Op::Add) };`.
class EnumeratorNames {
 public:
  // Tells of a name whether it is an enumerator.
  using IsEnumerator = std::function<bool(std::string_view)>;

  explicit EnumeratorNames(IsEnumerator is_enumerator) : is_enumerator_(std::move(is_enumerator)) {}

  // `enumerations`: what stands in the braces of some, in this file.
  void read(std::uint32_t file, Tokens tokens, const std::vector<std::uint32_t>& partners,
            const SourceUnit& unit, const std::vector<TokenRange>& enumerations);
  bool empty() const { return names_.empty(); }
  // Puts the enumerator where a file has another name of it.
  void replace(std::uint32_t file, std::vector<Token>& tokens,
               const std::vector<TokenRange>& enumerations) const;

 private:
  struct Name {
    std::string_view enumerator;
    // The class that has it; empty where none does.
    std::string owner;
    // Where the name alone means it; all files where it is empty.
    std::uint32_t file = 0;
    TokenRange within;
  };
  struct Around {
    std::uint32_t open = 0;
    Scope scope;
  };

  std::string_view value_of(Tokens tokens, const std::vector<std::uint32_t>& partners,
                            TokenRange range) const;
  void read_macros(std::string_view bytes);
  void read_constant(std::uint32_t file, std::uint32_t at, Tokens tokens,
                     const std::vector<std::uint32_t>& partners, const std::vector<Around>& around);
  void read_enumeration(Tokens tokens, const std::vector<std::uint32_t>& partners,
                        TokenRange range);

  IsEnumerator is_enumerator_;
  std::unordered_map<std::string_view, std::vector<Name>> names_;
};

}  // namespace opseal
