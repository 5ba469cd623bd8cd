#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzers/source/conditions.h"
#include "analyzers/source/macros.h"

namespace opseal {

// The macros at one place of a file. A name may have several definitions at once, whose conditions
// no build need share.
class MacroTable {
 public:
  static constexpr std::uint32_t none = 0xffffffff;

  struct Definition {
    const MacroDefinition* macro = nullptr;
    std::uint32_t condition = 0;
    // Index of the next definition of the name, or `none`.
    std::uint32_t next = none;
  };

  struct Name {
    std::string_view text;
    std::uint32_t hash = 0;
    // The latest definition, or `none`.
    std::uint32_t first = none;
    // A word of the vocabulary that is never expanded.
    bool is_terminal = false;
    // Its expansion is being read, so it stands for itself.
    bool disabled = false;
    // What it stands for was stated, whatever files define.
    bool is_kept = false;
    // Worth expanding, as far as was known when the table had this generation.
    bool hot = false;
    std::uint32_t generation = 0;
  };

  explicit MacroTable(ConditionTable& conditions) : conditions_(conditions) { clear(); }

  void clear();

  // Replaces the definitions that no build would see any longer.
  void define(const MacroDefinition& macro, std::uint32_t condition, bool unless_defined);
  // From here on nothing replaces its definitions.
  void keep(const MacroDefinition& macro) { name_of(macro).is_kept = true; }
  void undefine(std::string_view name, std::uint32_t hash, std::uint32_t condition);

  // Null where the name has no definition, or is a terminal.
  Name* find(const Token& identifier);
  const Definition& operator[](std::uint32_t definition) const { return definitions_[definition]; }

  // Whether a macro is to be expanded where nothing asks for it: it leads to a word of the
  // vocabulary, calls a parameter of its own, or stands for a text or its argument.
  bool is_hot(Name& name) { return is_hot(name, 0); }

  // Tokens of bodies that were looked at; one file should not make this large.
  std::uint64_t steps() const { return steps_; }

 private:
  Name& name_of(const MacroDefinition& macro);
  Name* known(std::string_view text, std::uint32_t hash);
  std::size_t slot_of(std::string_view text, std::uint32_t hash) const;
  bool is_hot(Name& name, int depth);
  void drop_implied(Name& name, std::uint32_t condition);
  void grow();

  ConditionTable& conditions_;
  std::vector<Name> names_;
  std::vector<Definition> definitions_;
  // Open addressing: index into `names_`, or `none`. A power of two of them.
  std::vector<std::uint32_t> slots_;
  std::uint32_t generation_ = 1;
  std::uint64_t steps_ = 0;
};

}  // namespace opseal
