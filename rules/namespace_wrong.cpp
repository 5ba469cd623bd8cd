#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "opseal/one_slip.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/torch_names.h"
#include "rules/undefined_namespaces.h"

namespace opseal {
namespace {

// Shorter words are near to everything.
constexpr std::size_t shortest = 5;
// A namespace that is a slip holds few operators beside the one that was meant.
constexpr std::uint64_t least_ratio = 3;
// Namespaces are a few dozen; more than this in one manifest are no namespaces.
constexpr std::size_t most_namespaces = 2048;

struct Space {
  std::string_view name;
  // Without underscores around it: `_quantized` stands beside `quantized` on purpose.
  std::string_view core;
  std::uint64_t operators = 0;
  Fact first;
};

std::string_view without_underscores(std::string_view name) {
  while (name.starts_with('_')) name.remove_prefix(1);
  while (name.ends_with('_')) name.remove_suffix(1);
  return name;
}

// Two packages may well be called alike.
bool may_share_package(const Space& a, const Space& b) {
  const Fact own = a.first[Key::package];
  const Fact other = b.first[Key::package];
  return !own.is_text() || !other.is_text() || own.name() == other.name();
}

void report(const Fact& manifest, const Space& slip, const Space& meant, Sink& sink) {
  Finding& finding = sink.add(
      subject_of(manifest, slip.first),
      "namespace " + quote(slip.name) + " has " + plural(slip.operators, "operator") + ", " +
          quote(meant.name) + ", one letter apart, has " + std::to_string(meant.operators),
      evidence(slip.first[Key::namespace_], "one letter off" + site_of(slip.first)));
  finding.related.push_back(evidence(meant.first[Key::namespace_],
                                     "the namespace of its neighbours" + site_of(meant.first)));
  finding.fix = "register it in " + quote(meant.name);
}

// The same but for one letter of a short word.
bool is_another_letter(std::string_view a, std::string_view b) {
  constexpr std::size_t short_word = 8;
  if (a.size() != b.size() || a.size() >= short_word) return false;
  std::size_t differing = 0;
  for (std::size_t at = 0; at < a.size(); ++at) differing += a[at] != b[at] ? 1 : 0;
  return differing == 1;
}

void compare(const Fact& manifest, std::vector<Space>& spaces, Sink& sink) {
  std::sort(spaces.begin(), spaces.end(), [](const Space& a, const Space& b) {
    return a.core.size() != b.core.size() ? a.core.size() < b.core.size() : a.core < b.core;
  });
  if (spaces.size() < 2 || spaces.size() > most_namespaces) return;
  sink.inspected(spaces.size());
  for (std::size_t i = 0; i < spaces.size(); ++i) {
    for (std::size_t j = i + 1; j < spaces.size(); ++j) {
      if (spaces[j].core.size() > spaces[i].core.size() + 1) break;
      // A slip seldom hits the first letter, and families of names often differ there.
      if (spaces[i].core[0] != spaces[j].core[0]) continue;
      if (!one_slip_apart(spaces[i].core, spaces[j].core)) continue;
      // `autosp` and `autotp` are two things; so are most short words that differ in one letter.
      if (is_another_letter(spaces[i].core, spaces[j].core)) continue;
      if (!may_share_package(spaces[i], spaces[j])) continue;
      const bool less = spaces[i].operators < spaces[j].operators;
      const Space& slip = less ? spaces[i] : spaces[j];
      const Space& meant = less ? spaces[j] : spaces[i];
      if (slip.operators * least_ratio <= meant.operators) report(manifest, slip, meant, sink);
    }
  }
}

// The namespace in the name and the namespace beside it.
void check_prefix(const Fact& manifest, const Fact& op, Sink& sink) {
  const Fact name = op[Key::name];
  const std::string_view prefix = namespace_in(name.text());
  const Fact space = op[Key::namespace_];
  if (prefix.empty() || !space.is_text()) return;
  sink.inspected();
  if (prefix == space.text() || name.text().starts_with(std::string(space.text()) + "::")) return;
  Finding& finding = sink.add(subject_of(manifest, op),
                              "the name begins with namespace " + quote(prefix) +
                                  ", the operator is registered in " + quote(space.text()),
                              evidence(space, "namespace" + site_of(op)));
  finding.related.push_back(evidence(name, "name"));
}

void check(const Facts& facts, Sink& sink) {
  std::vector<Space> spaces;
  std::unordered_map<Name, std::size_t> places;
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    // Elsewhere `::` may be a part of the name like any other.
    const bool prefixed =
        manifest[Key::system].is("torch") || manifest[Key::system].is("executorch");
    spaces.clear();
    places.clear();
    for (const Fact op : manifest[Key::operators].items()) {
      const Fact space = op[Key::namespace_];
      if (!space.is_text()) continue;
      if (prefixed) check_prefix(manifest, op, sink);
      const std::string_view core = without_underscores(space.text());
      if (core.size() < shortest) continue;
      const auto [place, fresh] = places.try_emplace(space.name(), spaces.size());
      if (fresh) spaces.push_back({space.text(), core, 0, op});
      ++spaces[place->second].operators;
    }
    compare(manifest, spaces, sink);
  }
  check_namespaces_in_libraries(facts, sink);
}

}  // namespace

extern constinit const Rule namespace_wrong{
    .id = "namespace-wrong",
    .title = "operator registered in a namespace that is a slip of another one",
    .rationale =
        "Two namespaces of one import differ by one letter, and one of them holds next to nothing. "
        "Code that looks the operator up in the namespace where its neighbours are doesn't find "
        "it, and takes its slow path or fails; a definition in one and a kernel in the other never "
        "meet. The same holds where an operator's full name begins with another namespace than the "
        "one that it is registered in.",
    .example =
        R"({"opseal_manifest": 1, "operators": [{"name": "d", "namespace": "attenton"}, )"
        R"({"name": "a", "namespace": "attention"}, {"name": "b", "namespace": "attention"}, )"
        R"({"name": "c", "namespace": "attention"}]})",
    .fix = "register it in the namespace of its neighbours",
    .severity = Severity::error,
    .inspects =
        "namespace of at least 5 letters beside another, or operator whose name and namespace are "
        "said, or namespace in a library that kernels are registered for",
    .needs = {Key::namespace_},
    .reads = {Key::registrars},
    .check = check,
};

}  // namespace opseal
