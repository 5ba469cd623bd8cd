#include "analyzers/source/macro_table.h"

#include <algorithm>

namespace opseal {
namespace {

constexpr std::size_t first_slots = 1 << 10;
// Macros that lead to others are followed so far.
constexpr int most_depth = 256;
// Looking for hot macros ends here; those that are not known by then are cold.
constexpr std::uint64_t most_steps = 20'000'000;

}  // namespace

void MacroTable::clear() {
  names_.clear();
  definitions_.clear();
  slots_.assign(first_slots, none);
  generation_ = 1;
  steps_ = 0;
}

std::size_t MacroTable::slot_of(std::string_view text, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    const std::uint32_t index = slots_[slot];
    if (index == none) return slot;
    if (names_[index].hash == hash && names_[index].text == text) return slot;
  }
}

void MacroTable::grow() {
  slots_.assign(slots_.size() * 2, none);
  for (std::uint32_t index = 0; index < names_.size(); ++index) {
    slots_[slot_of(names_[index].text, names_[index].hash)] = index;
  }
}

MacroTable::Name* MacroTable::known(std::string_view text, std::uint32_t hash) {
  const std::uint32_t index = slots_[slot_of(text, hash)];
  return index == none ? nullptr : &names_[index];
}

MacroTable::Name& MacroTable::name_of(const MacroDefinition& macro) {
  if (names_.size() * 2 >= slots_.size()) grow();
  std::uint32_t& index = slots_[slot_of(macro.name, macro.name_hash)];
  if (index == none) {
    index = static_cast<std::uint32_t>(names_.size());
    names_.emplace_back();
    names_.back().text = macro.name;
    names_.back().hash = macro.name_hash;
    names_.back().is_terminal = macro.is_terminal;
  }
  return names_[index];
}

MacroTable::Name* MacroTable::find(const Token& identifier) {
  Name* const name = known(identifier.text, identifier.hash);
  return name == nullptr || name->first == none || name->is_terminal ? nullptr : name;
}

// Takes out the definitions whose builds all have the condition.
void MacroTable::drop_implied(Name& name, std::uint32_t condition) {
  std::uint32_t* link = &name.first;
  while (*link != none) {
    Definition& definition = definitions_[*link];
    const bool implied = conditions_.implies(definition.condition, condition);
    if (implied) {
      *link = definition.next;
    } else {
      link = &definition.next;
    }
  }
}

void MacroTable::define(const MacroDefinition& macro, std::uint32_t condition,
                        bool unless_defined) {
  Name& name = name_of(macro);
  if (name.is_kept) return;
  if (unless_defined) {
    for (std::uint32_t at = name.first; at != none; at = definitions_[at].next) {
      // A copy: adding moves the conditions.
      const BuildCondition other = conditions_[definitions_[at].condition];
      condition = conditions_.both(condition, conditions_.add(!other));
      if (other.always() || conditions_.never(condition)) return;
    }
  } else {
    drop_implied(name, condition);
  }
  // A macro for which there is one definition after the other, each with a condition of its own,
  // keeps some of them.
  constexpr int most_definitions = 32;
  int count = 0;
  for (std::uint32_t* link = &name.first; *link != none; link = &definitions_[*link].next) {
    if (++count >= most_definitions) *link = none;
    if (*link == none) break;
  }
  definitions_.push_back({&macro, condition, name.first});
  name.first = static_cast<std::uint32_t>(definitions_.size() - 1);
  name.generation = 0;
  // Those that lead to it may be hot from now on; who uses one asks again.
  if (macro.leads_on) ++generation_;
}

void MacroTable::undefine(std::string_view text, std::uint32_t hash, std::uint32_t condition) {
  Name* const name = known(text, hash);
  if (name == nullptr || name->is_kept) return;
  drop_implied(*name, condition);
  name->generation = 0;
}

bool MacroTable::is_hot(Name& name, int depth) {
  if (name.generation == generation_ || (name.hot && name.generation != 0)) return name.hot;
  if (depth > most_depth || steps_ > most_steps) return false;
  // A circle ends here.
  name.generation = generation_;
  name.hot = false;
  for (std::uint32_t at = name.first; at != none; at = definitions_[at].next) {
    const MacroDefinition& macro = *definitions_[at].macro;
    name.hot = name.hot || macro.has_seed || macro.calls_parameter || macro.is_text;
  }
  for (std::uint32_t at = name.first; at != none && !name.hot; at = definitions_[at].next) {
    for (const Token& token : definitions_[at].macro->body) {
      ++steps_;
      if (!token.is_identifier()) continue;
      Name* const other = find(token);
      if (other == nullptr || other == &name || !is_hot(*other, depth + 1)) continue;
      name.hot = true;
      break;
    }
  }
  return name.hot;
}

}  // namespace opseal
