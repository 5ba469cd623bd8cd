#include "opseal/rule.h"
#include "rules/cache_keys.h"

namespace opseal {
namespace {

void check(const Facts& facts, Sink& sink) {
  for_each_cache(facts, [&sink](const Fact&, const Fact& cache) {
    const Fact suffix = cache[Key::suffix];
    const Fact names = cache[Key::names];
    if (!suffix.is_text() || !names.is_list()) return;
    sink.inspected();
    if (!suffix.is("platform")) return;
    for (const Fact name : names.items()) {
      if (!name.is_text()) continue;
      Finding& finding = sink.add(cache_subject(cache),
                                  "libraries with the suffix of the system are looked for by " +
                                      quote(name.text()) + " alone",
                                  evidence(name, "the suffix of one system"));
      finding.related.push_back(evidence(suffix, "the suffix of the system is used here"));
    }
  });
}

}  // namespace

extern constinit const Rule cache_suffix_hardcoded{
    .id = "cache-suffix-hardcoded",
    .title = "built libraries are looked for by the suffix of one system",
    .rationale =
        "The code that builds libraries gives them the suffix of the system that it runs on: "
        "`.so`, `.dylib`, `.dll`, `.pyd`. A second place spells `.so`. On another system it finds "
        "nothing: every process builds again what is there, a clean-up leaves the libraries "
        "behind, and a check that a library is there fails.",
    .example =
        R"({"opseal_manifest": 1, "caches": [{"name": "kernels", "kind": "disk", "suffix": "platform", "names": [".so"]}]})",
    .fix = "use what gives the suffix where the libraries are built",
    .severity = Severity::warning,
    .inspects =
        "cache of libraries of which it is said what suffix they get and by which they are "
        "looked for",
    .needs = {Key::caches, Key::suffix, Key::names},
    .check = check,
};

}  // namespace opseal
