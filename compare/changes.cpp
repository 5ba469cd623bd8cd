#include "compare/changes.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "compare/change_list.h"
#include "opseal/text.h"

namespace opseal {
namespace {

Moved moved_operators(const Paired& operators) {
  Moved moved;
  for (const std::vector<Registered>* list : {&operators.removed, &operators.added}) {
    for (const Registered& one : *list) {
      const Fact since = one.item[Key::versions][Key::since];
      if (since.is_count()) {
        moved.emplace(one.item[Key::namespace_].name(), one.item[Key::name].name(), since.count());
      }
    }
  }
  return moved;
}

bool is_function(const Fact& fact) { return fact[Key::name].is_text() && fact[Key::positional]; }

bool same_members(const Fact& before, const Fact& after) {
  for (const Fact member : before.items()) {
    const Fact other = after[member.key()];
    if (member.key() == Key::location || member.key() == Key::extension || !other.said()) continue;
    if (member.key() == Key::name && is_function(before)) {
      if (own_name(member.text()) != own_name(other.text())) return false;
    } else if (!same_meaning(member, other)) {
      return false;
    }
  }
  return true;
}

bool same_entries(const Fact& before, const Fact& after) {
  std::map<std::string_view, Fact> entries;
  for (const EntryRange::Entry entry : after.entries()) {
    entries.try_emplace(entry.name.text(), entry.value);
  }
  if (before.size() != after.size()) return false;
  for (const EntryRange::Entry entry : before.entries()) {
    const auto found = entries.find(entry.name.text());
    if (found == entries.end() || !same_meaning(entry.value, found->second)) return false;
  }
  return true;
}

bool same_items(const Fact& before, const Fact& after) {
  const FactRange left = before.items();
  const FactRange right = after.items();
  auto other = right.begin();
  for (const Fact item : left) {
    if (other == right.end() || !same_meaning(item, *other)) return false;
    ++other;
  }
  return other == right.end();
}

std::set<std::string> systems_of(const Facts& facts, Side side) {
  std::set<std::string> systems;
  for (const Document& document : facts.documents) {
    if (document.side != side || document.settings) continue;
    const std::string_view system = facts.root(document)[Key::system].text();
    if (!system.empty()) systems.emplace(system);
  }
  return systems;
}

void find_systems_apart(const Facts& facts, Changes& changes) {
  const std::set<std::string> before = systems_of(facts, Side::before);
  const std::set<std::string> after = systems_of(facts, Side::after);
  std::set_difference(before.begin(), before.end(), after.begin(), after.end(),
                      std::back_inserter(changes.systems_before));
  std::set_difference(after.begin(), after.end(), before.begin(), before.end(),
                      std::back_inserter(changes.systems_after));
}

}  // namespace

const char* to_text(Impact impact) {
  switch (impact) {
    case Impact::breaking:
      return "breaking";
    case Impact::numerics:
      return "numerics";
    case Impact::speed:
      return "speed";
    case Impact::additive:
      return "additive";
  }
  return "";
}

const char* to_text(Bump bump) {
  switch (bump) {
    case Bump::major:
      return "major";
    case Bump::minor:
      return "minor";
    case Bump::patch:
      return "patch";
  }
  return "";
}

Bump usual_bump(Impact impact) {
  if (impact == Impact::breaking) return Bump::major;
  return impact == Impact::speed ? Bump::patch : Bump::minor;
}

bool same_meaning(const Fact& before, const Fact& after) {
  if (!before.said() || !after.said()) return true;
  if (before.is_object() && after.is_object()) return same_members(before, after);
  if (before.is_map() && after.is_map()) return same_entries(before, after);
  if (before.is_list() && after.is_list()) return same_items(before, after);
  if (before.is_number() && after.is_number()) return before.number() == after.number();
  return before.node().type == after.node().type && before.node().value == after.node().value;
}

Changes find_changes(const Facts& facts) {
  Changes changes;
  ChangeList list(changes);
  NamesByManifest names;
  const Paired operators = pair_operators(facts);
  const Paired targets = pair_targets(facts);
  const Moved moved = moved_operators(operators);
  add_moved(list, operators, true);
  for (const RegisteredPair& pair : operators.pairs) {
    const std::string subject = subject_of(pair.after.manifest, pair.after.item);
    compare_operator({list, pair, subject, names}, moved);
  }
  add_moved(list, targets, false);
  for (const RegisteredPair& pair : targets.pairs) {
    const std::string subject(pair.after.item[Key::name].text());
    compare_target({list, pair, subject, names});
  }
  for_each_manifest_pair(facts, [&list](const Fact& before, const Fact& after) {
    compare_manifests(list, before, after);
  });
  compare_bindings(list, facts);
  compare_libraries(list, facts);
  find_systems_apart(facts, changes);
  changes.unpaired = operators.unsaid + targets.unsaid;
  return changes;
}

}  // namespace opseal
