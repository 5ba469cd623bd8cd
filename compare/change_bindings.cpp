// What modules of C++ give Python: functions that came and went, what they take, and by which
// dtypes they choose. A module is known again by the last part of its name, since how its package
// is called is the build's.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/change_list.h"
#include "opseal/registration.h"
#include "opseal/sources.h"
#include "opseal/text.h"

namespace opseal {
namespace {

using enum Impact;

std::string_view last_part(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == name.npos ? name : name.substr(dot + 1);
}

struct Module {
  // By name; several are overloads.
  std::map<std::string_view, std::vector<Fact>> functions;
  Fact first;
};

struct Bindings {
  std::map<std::string_view, Module> modules;
  // Modules that may have functions that could not be read.
  std::set<std::string_view> open;
  // Somebody lists functions, and nothing of the lists is missing.
  bool known = false;
};

Bindings bindings_of(const Facts& facts, Side side) {
  Bindings bindings;
  bool whole = true;
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    if (document.side != side || document.settings || !manifest[Key::functions].is_list()) continue;
    // Nobody outside of a project launches its kernels of Triton.
    const Fact system = manifest[Key::system];
    if (system.is("triton") || system.is("ctypes") || system.is("torch-native")) continue;
    bindings.known = true;
    whole = whole && all_read(manifest[Key::functions]) && !is_partial_tree(manifest);
    for (const Fact function : manifest[Key::functions].items()) {
      if (!function[Key::name].is_text()) continue;
      Module& module = bindings.modules[last_part(function[Key::namespace_].text())];
      if (!module.first.said()) module.first = function;
      module.functions[function[Key::name].text()].push_back(function);
    }
    for (const Fact name : manifest[Key::tree][Key::undecided].items()) {
      bindings.open.insert(last_part(name[Key::name].text()));
    }
  }
  bindings.known = bindings.known && whole;
  return bindings;
}

std::string subject_of_function(const Fact& function) {
  const std::string_view module = function[Key::namespace_].text();
  const std::string name(function[Key::name].text());
  return module.empty() ? name : std::string(module) + "." + name;
}

// The functions of one name in both releases, where it has one each.
void compare_function(ChangeList& list, const Fact& before, const Fact& after) {
  const std::string subject = subject_of_function(after);
  const auto add = [&](Impact impact, std::string message, std::string_view meaning, Key key) {
    list.add(impact, "binding", subject, std::move(message), meaning, before[key], after[key]);
  };
  const std::pair<Key, std::string_view> counts[] = {{Key::positional, "argument"},
                                                     {Key::required, "required argument"}};
  for (const auto& [key, noun] : counts) {
    const Fact then = before[key];
    const Fact now = after[key];
    if (!then.is_count() || !now.is_count() || then.count() == now.count()) continue;
    const bool worse = (now.count() < then.count()) == (key == Key::positional);
    add(worse ? breaking : additive,
        "takes " + plural(now.count(), std::string(noun), std::string(noun) + "s") + ", before " +
            std::to_string(then.count()),
        worse ? "calls with as many arguments as before fail" : "calls may give more or fewer",
        key);
  }
  const Fact then = before[Key::parameters];
  const Fact now = after[Key::parameters];
  if (then.is_list() && now.is_list() && all_read(then) && all_read(now)) {
    std::vector<std::string> lost;
    for (const Fact name : then.items()) {
      if (!list_has(now, name.text())) lost.emplace_back(name.text());
    }
    if (!lost.empty()) {
      add(breaking, "takes no " + quote_list(lost) + " by name any more",
          "calls that give it by name fail", Key::parameters);
    }
  }
  compare_choices(list, subject, "it", before, after);
}

void compare_module(ChangeList& list, const Module& before, const Module& after, bool may_lose,
                    bool may_gain) {
  for (const auto& [name, functions] : before.functions) {
    const auto found = after.functions.find(name);
    if (found == after.functions.end()) {
      if (!may_lose) continue;
      list.add(breaking, "binding-removed", subject_of_function(functions.front()),
               "not bound any more", "Python that asks for it fails", functions.front(),
               after.first);
    } else if (functions.size() == 1 && found->second.size() == 1) {
      compare_function(list, functions.front(), found->second.front());
    }
  }
  for (const auto& [name, functions] : after.functions) {
    if (!may_gain || before.functions.contains(name)) continue;
    list.add(additive, "binding-added", subject_of_function(functions.front()), "newly bound",
             "there is more to call", before.first, functions.front());
  }
}

}  // namespace

void compare_bindings(ChangeList& list, const Facts& facts) {
  const Bindings before = bindings_of(facts, Side::before);
  const Bindings after = bindings_of(facts, Side::after);
  if (before.modules.empty() && after.modules.empty()) return;
  // A side that lists none may just not say them.
  if (before.known != after.known) list.count_unsaid(Key::functions);
  for (const auto& [name, module] : before.modules) {
    const auto found = after.modules.find(name);
    if (found != after.modules.end()) {
      compare_module(list, module, found->second, after.known && !after.open.contains(name),
                     before.known && !before.open.contains(name));
    } else if (after.known) {
      list.add(breaking, "binding-removed", std::string(module.first[Key::namespace_].text()),
               "module with " + plural(module.functions.size(), "bound function") + " is gone",
               "Python that imports it fails", module.first, Fact());
    }
  }
  for (const auto& [name, module] : after.modules) {
    if (!before.known || before.modules.contains(name)) continue;
    list.add(additive, "binding-added", std::string(module.first[Key::namespace_].text()),
             "module with " + plural(module.functions.size(), "bound function") + " is new",
             "there is more to import", Fact(), module.first);
  }
}

}  // namespace opseal
