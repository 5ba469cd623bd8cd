#include "opseal/rule.h"
#include "rules/cache_keys.h"

namespace opseal {

static void check(const Facts& facts, Sink& sink) {
  for_each_cache(facts, [&sink](const Fact&, const Fact& cache) {
    const Fact method = cache[Key::headers][Key::method];
    if (!method.is_text()) return;
    sink.inspected();
    if (!method.is("mtime")) return;
    sink.add(cache_subject(cache), "headers are told apart by modification time, not by content",
             evidence(method, "said here" + key_site(cache)));
  });
}

extern constinit const Rule cache_header_weak{
    .id = "cache-header-weak",
    .title = "cache key that knows headers by their modification time",
    .rationale =
        "A modification time is no content. An archive, a checkout or a copy can put another "
        "header "
        "in place under the old time, and the library of the old one is loaded. A header that is "
        "merely touched builds everything again.",
    .example = R"({"name": "kernels", "headers": {"method": "mtime"}})",
    .fix = "hash the bytes of each header; where they are too many, hash a list of their digests",
    .severity = Severity::note,
    .profile = Profile::audit,
    .inspects = "cache of which it is said how it notices a changed header",
    .needs = {Key::caches, Key::headers, Key::method},
    .check = check,
};

}  // namespace opseal
