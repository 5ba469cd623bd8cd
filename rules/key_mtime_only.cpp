#include <vector>

#include "opseal/rule.h"
#include "rules/cache_keys.h"

namespace opseal {
namespace {

// The first part that knows an input by its time alone; headers have a rule of their own.
Fact timed_part(const Fact& parts) {
  std::vector<Name> by_content;
  for (const Fact part : parts.items()) {
    if (part[Key::form].is("content")) by_content.push_back(part[Key::input].name());
  }
  for (const Fact part : parts.items()) {
    if (!part[Key::form].is("mtime") || part[Key::input].is("headers")) continue;
    bool known = false;
    // The words for inputs are few, and so are those that are hashed by content.
    for (std::size_t at = 0; at < by_content.size() && at < 64; ++at) {
      known = known || by_content[at] == part[Key::input].name();
    }
    if (!known) return part;
  }
  return {};
}

void check(const Facts& facts, Sink& sink) {
  for_each_cache(facts, [&sink](const Fact&, const Fact& cache) {
    const Fact freshness = cache[Key::freshness];
    const Fact parts = cache[Key::key_parts];
    const bool judged = all_read(freshness) && freshness.size() > 0;
    if (!judged && !all_read(parts)) return;
    sink.inspected();
    if (judged && list_has(freshness, "mtime") && !list_has(freshness, "content")) {
      sink.add(cache_subject(cache), "entries are judged out of date by modification time alone",
               evidence(freshness, "said here" + key_site(cache)));
    } else if (const Fact part = timed_part(parts); part && all_read(parts)) {
      const std::string_view what =
          part[Key::name].is_text() ? part[Key::name].text() : part[Key::input].text("a part");
      sink.add(cache_subject(cache),
               "key knows " + quote(what) + " by its modification time, not by its content",
               evidence(part[Key::form], "said here" + key_site(cache)));
    }
  });
}

}  // namespace

extern constinit const Rule key_mtime_only{
    .id = "key-mtime-only",
    .title = "cache whose entries are judged out of date by modification time alone",
    .rationale =
        "Archives, package managers and checkouts set modification times of their own. A source "
        "that "
        "is replaced by another version with an older time counts as unchanged: the next build "
        "keeps the old object, or mixes objects of two versions in one library, which then lacks "
        "symbols or hangs.",
    .example = R"({"name": "ops", "freshness": ["mtime"]})",
    .fix =
        "keep a digest of the content beside each entry and compare that; let the time only decide "
        "whether to hash again",
    .severity = Severity::warning,
    .profile = Profile::strict,
    .inspects = "cache of which it is said how it judges its entries",
    .needs = {Key::caches},
    .check = check,
};

}  // namespace opseal
