#include "opseal/rule.h"
#include "rules/cache_keys.h"

namespace opseal {
namespace {

// Names the first of a list and counts the others.
std::string named(const Fact& list) {
  std::string text = quote((*list.items().begin()).text());
  if (list.size() > 1) text += " and " + plural(list.size() - 1, "other file");
  return text;
}

bool holds_any(const Fact& list) { return all_read(list) && list.size() > 0; }

void judge(const Fact& cache, const Fact& entry, Sink& sink) {
  const Fact damaged = entry[Key::damaged];
  const Fact missing = entry[Key::missing];
  const Fact lock = entry[Key::lock];
  if (!all_read(damaged) && !all_read(missing) && !lock.is_text()) return;
  sink.inspected();
  if (holds_any(damaged)) {
    sink.add(entry_subject(cache, entry),
             named(damaged) + " can't be loaded: empty, cut off or of another kind",
             evidence(*damaged.items().begin(), "damaged file"));
  }
  if (holds_any(missing)) {
    Finding& finding =
        sink.add(entry_subject(cache, entry), named(missing) + " not there, expected by the entry",
                 evidence(*missing.items().begin(), "named here"));
    finding.severity = Severity::warning;
  }
  if (lock.is_text()) {
    Finding& finding = sink.add(entry_subject(cache, entry),
                                "lock file " + quote(lock.text()) + " of no running build",
                                evidence(lock, "left here"));
    finding.severity = Severity::warning;
    finding.fix = "delete the lock file, unless a build is running after all";
  }
}

void check(const Facts& facts, Sink& sink) {
  for_each_cache(facts, [&sink](const Fact&, const Fact& cache) {
    for (const Fact entry : cache[Key::entries].items()) judge(cache, entry, sink);
  });
}

}  // namespace

extern constinit const Rule cache_entry_broken{
    .id = "cache-entry-broken",
    .title = "cache entry that is damaged, incomplete or locked",
    .rationale =
        "Most caches ask only whether a file is there. One that is empty or ends early, after a "
        "full disk or a killed process, is found and fails at every load until somebody deletes "
        "it. One that is missing is built again by each process, or again and again where the "
        "build fails. And where a lock is a file that exists, one whose owner was killed makes "
        "every later process wait for ever.",
    .example = R"({"name": "kernels", "entries": [{"name": "mv", "library": "mv.so",)"
               R"( "missing": [], "damaged": ["mv.so"]}]})",
    .fix = "delete the entry and let it be built again",
    .severity = Severity::error,
    .inspects = "cache entry whose files were looked at",
    .needs = {Key::caches, Key::entries},
    .check = check,
};

}  // namespace opseal
