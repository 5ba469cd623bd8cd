#include <algorithm>
#include <tuple>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/kernel_key.h"
#include "rules/repeats.h"

namespace opseal {
namespace {

bool both_differ(const Fact& a, const Fact& b, Key key) {
  return a[key].is_text() && b[key].is_text() && a[key].name() != b[key].name();
}

bool both_equal(const Fact& a, const Fact& b, Key key) {
  return a[key].said() && b[key].said() && hash_of(a[key]) == hash_of(b[key]);
}

// `be_` in front of a symbol is a convention that every library of a project keeps, each in its own
// scope; the name of a module stands in front of a separator of the framework's
// (`module.function`).
bool is_symbol_convention(std::string_view prefix) { return prefix.ends_with('_'); }

// One library under two paths, two builds of one source, or alternatives of which one is loaded.
bool are_variants(const Fact& a, const Fact& b) {
  if (a[Key::path].name() == b[Key::path].name()) return true;
  for (const Key key : {Key::digest, Key::recipe, Key::source_files}) {
    if (both_equal(a, b, key)) return true;
  }
  const Fact first = a[Key::architectures];
  const Fact second = b[Key::architectures];
  if (!first.is_list() || !second.is_list() || first.size() > 64 || second.size() > 64)
    return false;
  for (const Fact word : first.items()) {
    if (list_has(second, word.text())) return false;
  }
  return true;
}

// A function of both, or nothing where they have none in common.
Fact shared_function(const Fact& a, const Fact& b) {
  std::vector<Name> names;
  for (const Fact function : a[Key::functions].items()) names.push_back(function.name());
  std::sort(names.begin(), names.end());
  for (const Fact function : b[Key::functions].items()) {
    if (function.is_text() && std::binary_search(names.begin(), names.end(), function.name())) {
      return function;
    }
  }
  return {};
}

void compare(const Fact& a, const Fact& b, Sink& sink) {
  if (are_variants(a, b)) return;
  const bool functions_said = all_read(a[Key::functions]) && all_read(b[Key::functions]);
  const Fact shared = shared_function(a, b);
  if (functions_said && !shared.said()) return;
  // Without functions, only two contents that are known to differ speak.
  if (!functions_said && !both_differ(a, b, Key::digest) && !both_differ(a, b, Key::recipe)) return;
  const std::string_view prefix = b[Key::symbols_prefix].text();
  std::string message = "prefix " + quote(prefix) + " is shared with " + quote(a[Key::path].text());
  if (shared.said()) message += "; both register " + quote(shared.text());
  Finding& finding = sink.add(std::string(b[Key::path].text()), std::move(message),
                              evidence(b[Key::symbols_prefix], "one library"));
  finding.related.push_back(evidence(a[Key::symbols_prefix], "the other"));
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    std::vector<Fact> libraries;
    std::vector<std::uint64_t> hashes;
    for (const Fact library : facts.root(document)[Key::libraries].items()) {
      const Fact prefix = library[Key::symbols_prefix];
      if (!prefix.is_text() || prefix.text().empty() || is_symbol_convention(prefix.text())) {
        continue;
      }
      libraries.push_back(library);
      hashes.push_back(prefix.name());
    }
    sink.inspected(libraries.size());
    std::vector<Fact> again;
    for (const std::uint32_t index : repeated(hashes)) again.push_back(libraries[index]);
    const auto order = [](const Fact& library) {
      return std::tuple(library[Key::symbols_prefix].name(), library.index());
    };
    std::sort(again.begin(), again.end(),
              [&](const Fact& a, const Fact& b) { return order(a) < order(b); });
    for (std::size_t i = 1; i < again.size(); ++i) {
      const Name prefix = again[i][Key::symbols_prefix].name();
      if (again[i - 1][Key::symbols_prefix].name() == prefix) compare(again[i - 1], again[i], sink);
    }
  }
}

}  // namespace

extern constinit const Rule target_prefix_clobber{
    .id = "target-prefix-clobber",
    .title = "two libraries register under one prefix",
    .rationale =
        "Targets are registered for the whole process as prefix and function name. Two modules "
        "with "
        "one prefix and a function of equal name meet at one target: the second registration is "
        "refused, or replaces or loses to the first, and one of the modules calls the other's "
        "code.",
    .example =
        R"({"opseal_manifest": 1, "system": "engine", "libraries": [{"path": "a/_jit_uniform.so", "digest": "sha256:1", "symbols_prefix": "_jit_uniform", "functions": ["mv"]}, {"path": "b/_jit_uniform.so", "digest": "sha256:2", "symbols_prefix": "_jit_uniform", "functions": ["mv"]}]})",
    .fix = "give each library a prefix of its own",
    .severity = Severity::error,
    .inspects = "library with a stated prefix",
    .needs = {Key::libraries, Key::symbols_prefix},
    .check = check,
};

}  // namespace opseal
