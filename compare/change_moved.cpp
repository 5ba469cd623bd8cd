// Operators and targets that came and went, and which of them may be one under two names.

#include <map>
#include <string>

#include "compare/change_list.h"
#include "opseal/text.h"
#include "rules/kernel_key.h"

namespace opseal {
namespace {

// The code behind an operator: what its kernels run, and where. 0 where that isn't said, since
// operators that merely take the same arguments are not the same.
std::uint64_t code_of(const Fact& op, PlatformNames& names) {
  std::uint64_t hash = 0;
  bool said = false;
  for (const ServingKernel& row : serving_kernels(op, names)) {
    const Fact function = row.kernel[Key::function][Key::name];
    const Fact symbol = row.kernel[Key::symbol];
    said = said || function.is_text() || symbol.is_text();
    const Fact parts[] = {row.kernel[Key::platform], row.kernel[Key::backend], function, symbol};
    for (const Fact& part : parts) hash = hash * 31 + hash_of(part);
  }
  if (!said) return 0;
  for (const Key key : {Key::inputs, Key::outputs, Key::attributes}) {
    hash = hash * 31 + hash_of(op[key]);
  }
  return hash | 1;
}

std::uint64_t code_of_target(const Fact& target) {
  if (target[Key::content].is_text()) return hash_of(target[Key::content]) | 1;
  if (!target[Key::function].is_object() && !target[Key::symbol].is_text()) return 0;
  std::uint64_t hash = hash_of(target[Key::function][Key::name]);
  for (const Key key : {Key::symbol, Key::platform, Key::spec}) {
    hash = hash * 31 + hash_of(target[key]);
  }
  return hash | 1;
}

// Code -> the one thing that has it; nothing where several do.
std::map<std::uint64_t, const Registered*> by_code(const std::vector<Registered>& list,
                                                   bool operators, NamesByManifest& names) {
  std::map<std::uint64_t, const Registered*> found;
  for (const Registered& one : list) {
    const std::uint64_t code =
        operators ? code_of(one.item, names.of(one.manifest)) : code_of_target(one.item);
    if (code == 0) continue;
    const auto [place, fresh] = found.try_emplace(code, &one);
    if (!fresh) place->second = nullptr;
  }
  return found;
}

std::string subject(const Registered& one, bool operators) {
  return operators ? subject_of(one.manifest, one.item) : std::string(one.item[Key::name].text());
}

}  // namespace

void add_moved(ChangeList& list, const Paired& paired, bool operators) {
  NamesByManifest names;
  const auto gone = by_code(paired.removed, operators, names);
  const auto come = by_code(paired.added, operators, names);
  std::map<std::uint32_t, const Registered*> renamed;
  for (const auto& [code, one] : gone) {
    const auto found = come.find(code);
    if (one != nullptr && found != come.end() && found->second != nullptr)
      renamed[one->item.index()] = found->second;
  }
  const std::string noun = operators ? "operator" : "target";
  for (const Registered& one : paired.removed) {
    const auto found = renamed.find(one.item.index());
    Change& change = list.add(
        Impact::breaking, operators ? "operator-removed" : "target-removed",
        subject(one, operators),
        noun + " removed" +
            (found == renamed.end()
                 ? std::string()
                 : "; renamed to " + quote(subject(*found->second, operators)) + '?'),
        operators ? "callers fail" : "stored programs that call it fail", one.item, Fact());
    if (found != renamed.end()) change.after = found->second->item.where();
  }
  for (const Registered& one : paired.added) {
    list.add(Impact::additive, operators ? "operator-added" : "target-added",
             subject(one, operators), noun + " added", "there is more to call", Fact(), one.item);
  }
  // What is served stays served, since one registration of the name does that.
  for (const Registered& one : paired.fewer) {
    list.add(Impact::additive, operators ? "operator-removed" : "target-removed",
             subject(one, operators), noun + " registered once less",
             "the other registration of the name still serves it", one.item, Fact());
  }
  for (const Registered& one : paired.more) {
    list.add(Impact::additive, operators ? "operator-added" : "target-added",
             subject(one, operators), noun + " registered once more",
             "the name was served already: one of the two may be hidden", Fact(), one.item);
  }
}

}  // namespace opseal
