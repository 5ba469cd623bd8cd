#include "opseal/rule.h"
#include "rules/cache_keys.h"

namespace opseal {
namespace {

enum class Uniqueness {
  // Nobody else has it: random bytes, or a file that the system creates under a fresh name.
  everywhere,
  within_process,
  across_processes,
  // Two writers of one entry have it in common, or may have.
  none,
  // A word that we don't know.
  unclear,
};

struct Part {
  std::string_view word;
  Uniqueness unique;
};

// Looked for anywhere in the lower-case text, in this order: code calls the same thing
// `uuid4().hex` and `uuid`.
constexpr Part parts[] = {
    {"clock", Uniqueness::none},
    {"uuid", Uniqueness::everywhere},
    {"guid", Uniqueness::everywhere},
    {"ulid", Uniqueness::everywhere},
    {"rand", Uniqueness::everywhere},
    {"urandom", Uniqueness::everywhere},
    {"nonce", Uniqueness::everywhere},
    {"mkstemp", Uniqueness::everywhere},
    {"mkdtemp", Uniqueness::everywhere},
    {"tempfile", Uniqueness::everywhere},
    {"temporary", Uniqueness::everywhere},
    {"tempdir", Uniqueness::everywhere},
    {"tmpfile", Uniqueness::everywhere},
    {"token_", Uniqueness::everywhere},
    {"unique", Uniqueness::everywhere},
    // A lock lets one writer at a time in, and O_EXCL makes the second fail and try again.
    {"lock", Uniqueness::everywhere},
    {"o_excl", Uniqueness::everywhere},
    {"exclusive", Uniqueness::everywhere},
    {"thread", Uniqueness::within_process},
    {"get_ident", Uniqueness::within_process},
    {"gettid", Uniqueness::within_process},
    {"counter", Uniqueness::within_process},
    {"sequence", Uniqueness::within_process},
    {"atomic", Uniqueness::within_process},
    {"pid", Uniqueness::across_processes},
    {"process", Uniqueness::across_processes},
    {"time", Uniqueness::none},

    {"host", Uniqueness::none},
    {"user", Uniqueness::none},
    {"key", Uniqueness::none},
    {"hash", Uniqueness::none},
    {"digest", Uniqueness::none},
    {"name", Uniqueness::none},
    {"suffix", Uniqueness::none},
    {"prefix", Uniqueness::none},
    {"literal", Uniqueness::none},
    {"constant", Uniqueness::none},
};

Uniqueness uniqueness_of(std::string_view text) {
  const std::string word = lower(text);
  if (word == "tid") return Uniqueness::within_process;
  for (const Part& part : parts) {
    if (word.find(part.word) != word.npos) return part.unique;
  }
  return Uniqueness::unclear;
}

void check(const Facts& facts, Sink& sink) {
  for_each_cache(facts, [&sink](const Fact&, const Fact& cache) {
    const Fact words = cache[Key::temporary_name];
    if (!all_read(words) || !outlives_process(cache)) return;
    bool within = false;
    bool across = false;
    bool unclear = false;
    for (const Fact word : words.items()) {
      const Uniqueness unique = uniqueness_of(word.text());
      within = within || unique == Uniqueness::within_process || unique == Uniqueness::everywhere;
      across = across || unique == Uniqueness::across_processes || unique == Uniqueness::everywhere;
      unclear = unclear || unique == Uniqueness::unclear;
    }
    if (unclear && !(within && across)) return;
    sink.inspected();
    if (within && across) return;
    std::string message = "temporary name ";
    message +=
        words.size() == 0 ? "has no part of its own" : "is made of " + quote_list(texts_of(words));
    message += across   ? ", equal for two threads of a process"
               : within ? ", equal for two processes"
                        : ", equal for two writers";
    sink.add(cache_subject(cache), std::move(message),
             evidence(words, "parts of the temporary name listed here" + key_site(cache)));
  });
}

}  // namespace

extern constinit const Rule cache_temp_collision{
    .id = "cache-temp-collision",
    .title = "temporary file of a cache under a name that two writers share",
    .rationale =
        "An entry is written under a temporary name and then renamed. If two writers of one entry "
        "take the same temporary name, they write into one file: the loser's rename fails, or a "
        "library of mixed bytes is published under a valid key.",
    .example = R"({"name": "kernels", "kind": "disk", "temporary_name": ["pid"]})",
    .fix = "add random bytes (a UUID), or create the file by `mkstemp`",
    .severity = Severity::warning,
    .inspects = "cache with a stated temporary name",
    .needs = {Key::caches, Key::temporary_name},
    .check = check,
};

}  // namespace opseal
