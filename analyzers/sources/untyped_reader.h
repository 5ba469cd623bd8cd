#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyzers/source/plain_source.h"

namespace opseal {

// A tensor that a function is given.
struct UntypedParameter {
  const Token* name = nullptr;
  std::size_t position = 0;
  // It asks for the dtype, or converts it.
  bool asked = false;
  // It does something by which it may know.
  bool unknown = false;
  // Of its untyped pointer; empty: none is cast.
  std::string_view cast;
  Tokens pointer;
};

// What functions do with the tensors that they are given.
class UntypedReader {
 public:
  explicit UntypedReader(const PlainSource& source) : source_(source), tokens_(source.unit.tokens) {
    for (const SourceDefinition& definition : source.definitions) {
      if (definition.function_like) macros_[definition.name] = &definition;
    }
  }

  // Calls of these functions hand a tensor on and ask for nothing.
  void add_neutral(std::string_view name) { followed_.insert(name); }

  std::vector<UntypedParameter> read(std::uint32_t number);

 private:
  bool is(std::uint32_t at, std::string_view text) const {
    return at < tokens_.size() && tokens_[at].is(text);
  }

  std::vector<UntypedParameter> parameters_of(const Scope& scope) const;

  // A chain of members that begins with the name.
  void note(std::uint32_t at, const std::vector<std::uint32_t>& open, std::size_t number);

  // `static_cast<const int*>(` or `(int*)` before the pointer: the type, else empty.
  std::string_view cast_before(std::uint32_t at) const;

  void note_pointer(std::uint32_t at, std::uint32_t end, UntypedParameter& parameter) const;

  // The tensor itself, from `at` to `end`.
  void note_use(std::uint32_t at, std::uint32_t end, const std::vector<std::uint32_t>& open,
                std::size_t number);

  bool asks_for_no_dtype(std::string_view name, unsigned depth) const;

  const PlainSource& source_;
  const std::vector<Token>& tokens_;
  std::unordered_map<std::string_view, const SourceDefinition*> macros_;
  std::unordered_set<std::string_view> followed_;
  std::vector<UntypedParameter> parameters_;
  // Parameters by the names that they have, that of a copy among them.
  std::unordered_map<std::uint32_t, std::size_t> names_;
};

}  // namespace opseal
