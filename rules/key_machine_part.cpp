#include <string>
#include <utility>

#include "opseal/rule.h"
#include "rules/cache_keys.h"
#include "rules/key_texts.h"

namespace opseal {
namespace {

std::string part_name(const Fact& part) {
  if (part[Key::name].is_text()) return quote(part[Key::name].text());
  return quote(part[Key::input].text("a part"));
}

// The first part that depends on where, not on what, is built.
void check_parts(const Fact& cache, Sink& sink) {
  bool looked = false;
  for (const Fact part : cache[Key::key_parts].items()) {
    const Fact form = part[Key::form];
    const Fact value = part[Key::value];
    if (!form.is_text() && !value.is_text()) continue;
    looked = true;
    const std::string_view path = absolute_path_in(value.text());
    if (!path.empty()) {
      sink.inspected();
      sink.add(cache_subject(cache),
               "key holds the absolute path " + quote(path) + " in " + part_name(part),
               evidence(value, "what stands in the key" + key_site(cache)));
      return;
    }
    if (form.is("presence")) {
      sink.inspected();
      sink.add(cache_subject(cache),
               "key tells " + part_name(part) + " unset from set to its default",
               evidence(form, "said here" + key_site(cache)));
      return;
    }
  }
  for (const Fact entry : cache[Key::entries].items()) {
    const Fact key = entry[Key::key];
    if (!key.is_text()) continue;
    looked = true;
    const std::string_view path = absolute_path_in(key.text());
    if (path.empty()) continue;
    sink.inspected();
    sink.add(cache_subject(cache), "key of an entry holds the absolute path " + quote(path),
             evidence(key, "key of an entry" + key_site(cache)));
    return;
  }
  if (looked) sink.inspected();
}

void check(const Facts& facts, Sink& sink) {
  for_each_cache(facts, [&sink](const Fact&, const Fact& cache) {
    if (outlives_process(cache)) check_parts(cache, sink);
  });
}

}  // namespace

extern constinit const Rule key_machine_part{
    .id = "key-machine-part",
    .title = "key of a lasting cache that depends on where things lie, not on what they are",
    .rationale =
        "An absolute path in a key makes two checkouts of one source, or two machines with one "
        "compiler in different places, build everything twice; a cache that is shared or carried "
        "into a container never hits. It also says too little: a toolkit that is replaced at the "
        "same path keeps the key. A variable that counts as unset and as set to its default gives "
        "two keys for one build.",
    .example = R"({"name": "kernels", "kind": "disk", "key_parts":)"
               R"( [{"name": "cuda", "form": "path", "value": "/usr/local/cuda"}]})",
    .fix =
        "hash the version or the content of what lies there, write paths relative to the source, "
        "and "
        "resolve defaults before hashing",
    .severity = Severity::warning,
    .profile = Profile::strict,
    .inspects = "cache that outlives its process and whose parts of the key are known",
    .needs = {Key::caches},
    .check = check,
};

}  // namespace opseal
