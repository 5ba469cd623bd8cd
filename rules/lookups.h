#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "opseal/platforms.h"
#include "opseal/registration.h"
#include "opseal/text.h"
#include "rules/dispatch_kinds.h"

namespace opseal {

// Rows under one name.
struct Bearers {
  std::vector<Fact> operators;
  std::vector<Fact> targets;
  // Dispatch records.
  std::vector<Fact> records;

  bool empty() const { return operators.empty() && targets.empty() && records.empty(); }
};

// What one manifest registers under the names that its code looks up.
class LookedUp {
 public:
  // A name with more bearers than versions and overloads explain names nobody in particular, and
  // each look-up walks them.
  static constexpr std::size_t most_bearers = 64;

  explicit LookedUp(const Fact& manifest) {
    const Facts& facts = manifest.facts();
    complete_ = all_read(manifest[Key::operators]) || !manifest[Key::operators].said();
    complete_ = complete_ && (all_read(manifest[Key::targets]) || !manifest[Key::targets].said());
    for (const Fact dispatch : manifest[Key::dispatch].items()) {
      for (const Fact lookup : dispatch[Key::lookups].items()) {
        if (lookup[Key::operator_].is_text()) bearers_[lookup[Key::operator_].name()];
      }
    }
    if (bearers_.empty()) return;
    for (const Fact dispatch : manifest[Key::dispatch].items()) {
      if (Bearers* found = mutable_of(dispatch[Key::operator_].name())) {
        if (dispatch[Key::table].said()) found->records.push_back(dispatch);
      }
    }
    for (const Fact op : manifest[Key::operators].items()) {
      if (!op[Key::name].is_text()) complete_ = false;
      note(op, op[Key::name].name());
      for (const Fact alias : op[Key::aliases].items()) note(op, alias.name());
      if (op[Key::namespace_].is_text()) {
        note(op, facts.names.find(std::string(op[Key::namespace_].text()) +
                                  "::" + std::string(op[Key::name].text())));
      }
    }
    for (const Fact target : manifest[Key::targets].items()) {
      if (!target[Key::name].is_text()) complete_ = false;
      if (Bearers* found = mutable_of(target[Key::name].name())) found->targets.push_back(target);
    }
  }

  // Needs: the lookup says its operator.
  const Bearers& of(const Fact& lookup) const { return bearers_.at(lookup[Key::operator_].name()); }
  // Every row was read, so that a name that isn't found isn't there.
  bool complete() const { return complete_; }

 private:
  Bearers* mutable_of(Name name) {
    const auto found = bearers_.find(name);
    return found == bearers_.end() ? nullptr : &found->second;
  }
  void note(const Fact& op, Name name) {
    Bearers* found = mutable_of(name);
    if (found == nullptr) return;
    if (found->operators.empty() || !(found->operators.back() == op))
      found->operators.push_back(op);
  }

  bool complete_ = true;
  std::unordered_map<Name, Bearers> bearers_;
};

// "(`add`, `rocm`, `f16`)" of a look-up.
inline std::string lookup_text(const Fact& lookup) {
  std::string text = "(";
  for (const Key key : {Key::operator_, Key::platform, Key::kind}) {
    if (!lookup[key].is_text()) continue;
    if (text.size() > 1) text += ", ";
    text += quote(lookup[key].text());
  }
  return text + ")";
}

inline std::string lookup_site(const Fact& lookup) {
  const std::string place = place_text(lookup[Key::location]);
  return place.empty() ? place : " (" + place + ")";
}

}  // namespace opseal
