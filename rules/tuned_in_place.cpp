#include <unordered_set>
#include <vector>

#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/key_fields.h"

namespace opseal {
namespace {

void check(const Facts& facts, Sink& sink) {
  for_each_cache(facts, [&sink](const Fact&, const Fact& cache) {
    const Fact tested = cache[Key::tested];
    const Fact changed = cache[Key::in_place];
    if (!tested.is_count() || !all_read(changed)) return;
    sink.inspected();
    // One setting is taken without a trial.
    if (tested.count() < 2) return;
    std::unordered_set<Name> named;
    for (const Fact name : cache[Key::uses].items()) named.insert(name.name());
    std::vector<Fact> again;
    for (const Fact name : changed.items()) {
      if (name.is_text() && !named.contains(name.name())) again.push_back(name);
    }
    if (again.empty()) return;
    const bool one = again.size() == 1;
    Finding& finding = sink.add(quote(cache[Key::name].text()),
                                "each trial of " + plural(tested.count(), "setting") + " changes " +
                                    quote_list(names_of(again)) + " again, expected " +
                                    (one ? "it" : "them") + " to be put back in between",
                                evidence(again.front(), "changed here"));
    for (std::size_t at = 1; at < again.size() && at < 4; ++at) {
      finding.related.push_back(evidence(again[at], "changed here"));
    }
    finding.related.push_back(evidence(tested, "the trials"));
  });
}

}  // namespace

extern constinit const Rule tuned_in_place{
    .id = "tuned-in-place",
    .title = "kernel that changes its arguments in place and is tuned on them",
    .rationale =
        "A tuner runs the kernel many times on the arguments of the first call, with each of its "
        "settings. A kernel that adds to what it was given is then applied as many times: the "
        "first result of each new shape is wrong, every later one is right, and with one setting "
        "nothing happens. Nothing is reported.",
    .example = R"({"name": "scale", "kind": "memory", "arguments": ["x", "n"], "tested": 4, )"
               R"("in_place": ["x"]})",
    .fix =
        "name the arguments in `restore_value` of the tuner, or in `reset_to_zero` where they "
        "begin as zeros",
    .severity = Severity::warning,
    .inspects = "function of which it is said how many settings are tried, and what each changes",
    .needs = {Key::caches, Key::tested, Key::in_place},
    .check = check,
};

}  // namespace opseal
