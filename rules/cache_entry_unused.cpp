#include "opseal/rule.h"
#include "rules/cache_keys.h"

namespace opseal {
namespace {

void add(const Fact& list, std::string subject, const char* what, Sink& sink) {
  if (!all_read(list)) return;
  sink.inspected();
  if (list.size() == 0) return;
  sink.add(std::move(subject), what + quote_list(texts_of(list), 3),
           evidence(*list.items().begin(), "first of them"));
}

void check(const Facts& facts, Sink& sink) {
  for_each_cache(facts, [&sink](const Fact&, const Fact& cache) {
    add(cache[Key::temporary], cache_subject(cache), "left behind: ", sink);
    for (const Fact entry : cache[Key::entries].items()) {
      add(entry[Key::temporary], entry_subject(cache, entry), "left behind: ", sink);
      add(entry[Key::elsewhere], entry_subject(cache, entry), "asks for what is not there: ", sink);
    }
  });
}

}  // namespace

extern constinit const Rule cache_entry_unused{
    .id = "cache-entry-unused",
    .title = "files in a cache that nothing will ever use",
    .rationale =
        "A build that is killed leaves its temporary files, which no later one takes away. And a "
        "cache that was moved or copied into an image is of no use where its entries name their "
        "files by the old absolute paths: everything is compiled again at the first call.",
    .example =
        R"({"name": "kernels", "entries": [{"name": "mv", "temporary": [".mv.4711.tmp.so"]}]})",
    .fix = "delete what was left behind; build a cache at the path where it will be used",
    .severity = Severity::note,
    .profile = Profile::audit,
    .inspects = "cache or entry that says what was left behind, or what it asks for elsewhere",
    .needs = {Key::caches},
    .check = check,
};

}  // namespace opseal
