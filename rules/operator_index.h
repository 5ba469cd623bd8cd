#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "opseal/registration.h"

namespace opseal {

// Operators by name and alias, over every manifest of the run: for rules in which one operator
// names another.
class OperatorIndex {
 public:
  explicit OperatorIndex(const Facts& facts) : facts_(&facts), first_(facts.names.size(), none) {
    for_each_operator(facts, [this](const Fact& manifest, const Fact& op) {
      add(manifest, op, op[Key::name].name());
      for (const Fact alias : op[Key::aliases].items()) add(manifest, op, alias.name());
      const Name space = op[Key::namespace_].name();
      if (space != Names::missing && space != last_namespace_) {
        namespaces_.insert(space);
        last_namespace_ = space;
      }
    });
  }

  // The operators that `spelled` can mean where `op` of `manifest` writes it: those of the same
  // manifest and namespace, else of the same manifest, else of the same namespace elsewhere. More
  // than one where versions or overloads share a name. Empty where nobody has it, or too many.
  std::vector<Fact> find(const Fact& manifest, const Fact& op, std::string_view spelled) const {
    const Name own = op[Key::namespace_].name();
    Found found;
    collect(spelled, manifest, own, found);
    if (!found.ranks[0].empty()) return std::move(found.ranks[0]);
    const std::size_t colons = spelled.rfind("::");
    if (colons != spelled.npos) {
      collect(spelled.substr(colons + 2), manifest, facts_->names.find(spelled.substr(0, colons)),
              found, true);
    } else if (own != Names::missing) {
      collect(std::string(facts_->names.text(own)) + "::" + std::string(spelled), manifest, own,
              found);
    }
    for (std::vector<Fact>& rank : found.ranks) {
      if (!rank.empty()) return std::move(rank);
    }
    return {};
  }

  // Somewhere in the inputs.
  bool has_name(Name name) const { return name < first_.size() && first_[name] != none; }

  bool has_namespace(std::string_view name) const {
    return namespaces_.contains(facts_->names.find(name));
  }

 private:
  static constexpr std::uint32_t none = 0xffffffff;
  // A name with more bearers than versions and overloads explain names nobody in particular, and
  // looking through them for each mention would be quadratic.
  static constexpr std::uint32_t most_bearers = 64;

  struct Row {
    std::uint32_t manifest = 0;
    std::uint32_t op = 0;
    std::uint32_t next = none;
  };
  struct Found {
    std::vector<Fact> ranks[3];
  };

  void add(const Fact& manifest, const Fact& op, Name name) {
    if (name == Names::missing) return;
    rows_.push_back({manifest.index(), op.index(), first_[name]});
    first_[name] = static_cast<std::uint32_t>(rows_.size() - 1);
  }

  void collect(std::string_view text, const Fact& manifest, Name space, Found& found,
               bool only_in_namespace = false) const {
    const Name name = facts_->names.find(text);
    if (name == Names::missing) return;
    std::uint32_t bearers = 0;
    for (std::uint32_t at = first_[name]; at != none; at = rows_[at].next) {
      if (++bearers > most_bearers) {
        found = {};
        return;
      }
      const Fact op(*facts_, rows_[at].op);
      const bool here = rows_[at].manifest == manifest.index();
      const bool same_namespace = op[Key::namespace_].name() == space;
      if (only_in_namespace && !same_namespace) continue;
      if (!here && !same_namespace) continue;
      std::vector<Fact>& rank = found.ranks[here ? (same_namespace ? 0 : 1) : 2];
      // An alias may repeat the name.
      if (rank.empty() || !(rank.back() == op)) rank.push_back(op);
    }
  }

  const Facts* facts_;
  std::vector<std::uint32_t> first_;
  std::vector<Row> rows_;
  std::unordered_set<Name> namespaces_;
  Name last_namespace_ = Names::missing;
};

}  // namespace opseal
