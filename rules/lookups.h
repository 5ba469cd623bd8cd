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
#include "rules/torch_names.h"

namespace opseal {

// A row and the manifest that it is from.
struct Bearer {
  Fact manifest;
  Fact row;
};

// Rows under one name.
struct Bearers {
  std::vector<Bearer> operators;
  std::vector<Bearer> targets;
  // Dispatch records.
  std::vector<Bearer> records;

  bool empty() const { return operators.empty() && targets.empty() && records.empty(); }
};

// What all manifests of a run register under the names that their code looks up: a library may look
// up what another one registers.
class LookedUp {
 public:
  // A name with more bearers than versions and overloads explain names nobody in particular, and
  // each look-up walks them.
  static constexpr std::size_t most_bearers = 64;

  explicit LookedUp(const Facts& facts) : names_(&facts.names) {
    for_each_manifest(facts, [this](const Fact& manifest) {
      for (const Fact dispatch : manifest[Key::dispatch].items()) {
        for (const Fact lookup : dispatch[Key::lookups].items()) {
          if (lookup[Key::operator_].is_text()) bearers_[lookup[Key::operator_].name()];
        }
      }
    });
    if (bearers_.empty()) return;
    for_each_manifest(facts, [this](const Fact& manifest) { collect(manifest); });
  }

  // Needs: the lookup says its operator.
  const Bearers& of(const Fact& lookup) const { return bearers_.at(lookup[Key::operator_].name()); }
  // Every row was read, so that a name that isn't found isn't there.
  bool complete() const { return complete_; }

 private:
  template <typename Visit>
  static void for_each_manifest(const Facts& facts, Visit visit) {
    for (const Document& document : facts.documents) {
      if (!document.settings) visit(facts.root(document));
    }
  }

  void collect(const Fact& manifest) {
    complete_ =
        complete_ && (all_read(manifest[Key::operators]) || !manifest[Key::operators].said());
    complete_ = complete_ && !manifest[Key::tree][Key::partial].truth();
    complete_ = complete_ && (all_read(manifest[Key::targets]) || !manifest[Key::targets].said());
    for (const Fact dispatch : manifest[Key::dispatch].items()) {
      if (Bearers* found = mutable_of(dispatch[Key::operator_].name())) {
        if (dispatch[Key::table].said()) found->records.push_back({manifest, dispatch});
      }
    }
    const bool overloads =
        manifest[Key::system].is("torch") || manifest[Key::system].is("executorch");
    for (const Fact op : manifest[Key::operators].items()) {
      const Fact name = op[Key::name];
      if (!name.is_text()) complete_ = false;
      const Bearer bearer{manifest, op};
      note(bearer, name.name());
      for (const Fact alias : op[Key::aliases].items()) note(bearer, alias.name());
      std::string full(name.text());
      if (op[Key::namespace_].is_text()) {
        full = std::string(op[Key::namespace_].text()) + "::" + full;
        note(bearer, names_->find(full));
      }
      if (overloads) note_overload(bearer, full);
    }
    for (const Fact target : manifest[Key::targets].items()) {
      if (!target[Key::name].is_text()) complete_ = false;
      if (Bearers* found = mutable_of(target[Key::name].name())) {
        found->targets.push_back({manifest, target});
      }
    }
  }

  // Python asks for `ns::f.default` where the schema has no overload, and for the packet `ns::f` of
  // all overloads.
  void note_overload(const Bearer& bearer, const std::string& full) {
    if (overload_name(full).empty()) {
      note(bearer, names_->find(full + ".default"));
      note(bearer, names_->find(std::string(base_name(full)) + ".default"));
    } else {
      note(bearer, names_->find(full.substr(0, full.size() - overload_name(full).size() - 1)));
      note(bearer, names_->find(base_name(full)));
    }
  }

  Bearers* mutable_of(Name name) {
    const auto found = bearers_.find(name);
    return found == bearers_.end() ? nullptr : &found->second;
  }
  void note(const Bearer& bearer, Name name) {
    Bearers* found = mutable_of(name);
    if (found == nullptr) return;
    if (found->operators.empty() || !(found->operators.back().row == bearer.row)) {
      found->operators.push_back(bearer);
    }
  }

  const Names* names_;
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
