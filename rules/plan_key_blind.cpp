#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "opseal/rule.h"
#include "rules/cache_keys.h"

namespace opseal {
namespace {

// Everything that the key is said to hold, by name. Empty where nobody listed it.
std::vector<Name> named_parts(const Fact& cache) {
  std::vector<Name> names;
  const Fact parameters = cache[Key::parameters];
  const Fact parts = cache[Key::key_parts];
  if (parameters.said() && !all_read(parameters)) return {};
  if (parts.said() && !all_read(parts)) return {};
  for (const Fact parameter : parameters.items()) names.push_back(parameter.name());
  for (const Fact part : parts.items()) {
    // A part without a name may be any of them.
    if (!part[Key::name].is_text()) return {};
    names.push_back(part[Key::name].name());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void check(const Facts& facts, Sink& sink) {
  for_each_cache(facts, [&sink](const Fact&, const Fact& cache) {
    const Fact binds = cache[Key::binds];
    if (!all_read(binds) || binds.size() == 0) return;
    const std::vector<Name> names = named_parts(cache);
    if (names.empty()) return;
    sink.inspected();
    std::vector<std::string> missing;
    Fact first;
    for (const Fact state : binds.items()) {
      if (std::binary_search(names.begin(), names.end(), state.name())) continue;
      if (missing.empty()) first = state;
      missing.emplace_back(state.text());
    }
    if (missing.empty()) return;
    const Fact parts =
        cache[Key::parameters].said() ? cache[Key::parameters] : cache[Key::key_parts];
    Finding& finding = sink.add(
        cache_subject(cache), "entries hold on to " + quote_list(missing) + ", which the key lacks",
        evidence(first, "bound here"));
    finding.related.push_back(evidence(parts, "parts of the key listed here" + key_site(cache)));
  });
}

}  // namespace

extern constinit const Rule plan_key_blind{
    .id = "plan-key-blind",
    .title = "cached plan that holds on to state which its key leaves out",
    .rationale =
        "A plan, a captured graph or a prepared call keeps addresses of the buffers it was made "
        "with. If the key says nothing about which buffers those were, a plan is found valid after "
        "they were replaced: it reads and writes memory that belongs to another request by then.",
    .example = R"({"name": "plans", "kind": "memory", "parameters": ["shape", "dtype"],)"
               R"( "binds": ["kv_allocation"]})",
    .fix =
        "put an identity of that state into the key that is never used again, or drop the entries "
        "when the state is replaced",
    .severity = Severity::error,
    .inspects = "cache of which it is said what its entries hold on to and what its key is made of",
    .needs = {Key::caches, Key::binds},
    .check = check,
};

}  // namespace opseal
