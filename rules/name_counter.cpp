#include <string_view>
#include <unordered_map>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// A number of this many digits may be a digest that happens to have no letter.
constexpr std::size_t most_digits = 5;

// The word that names made by wrapping a function end with, and a number. A number behind any other
// word (`conv_2`, `attn_64`, `gemm_v3`) may belong to what the kernel is.
// Gives the name up to the number, or nothing.
std::string_view stem_before_counter(std::string_view name) {
  std::size_t end = name.size();
  while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9') --end;
  const std::size_t digits = name.size() - end;
  if (digits == 0 || digits > most_digits) return {};
  // A counter is written without leading zeros.
  if (digits > 1 && name[end] == '0') return {};
  const std::string_view stem = name.substr(0, end);
  return stem.ends_with("_ffi_") || stem.ends_with("_callable_") ? stem : std::string_view();
}

// Names by what stands before their number. One number alone may be a version or a size; a counter
// shows by two names that differ in nothing else.
class Counted {
 public:
  void add(const Fact& name) {
    const std::string_view stem = stem_before_counter(name.text());
    if (stem.empty()) return;
    const auto [known, fresh] = stems_.try_emplace(stem, Stem{name.name(), false});
    if (!fresh && known->second.first != name.name()) known->second.several = true;
  }
  bool has(const Fact& name) const {
    const auto known = stems_.find(stem_before_counter(name.text()));
    return known != stems_.end() && known->second.several;
  }

 private:
  struct Stem {
    Name first;
    bool several;
  };
  std::unordered_map<std::string_view, Stem> stems_;
};

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    Counted counted;
    for (const Fact target : manifest[Key::targets].items()) {
      // Whoever says where the name comes from knows better than the pattern.
      if (target[Key::name].is_text() && !target[Key::name_from].is_text()) {
        counted.add(target[Key::name]);
      }
    }
    for (const Fact target : manifest[Key::targets].items()) {
      const Fact name = target[Key::name];
      const Fact origin = target[Key::name_from];
      if (!name.is_text()) continue;
      sink.inspected();
      const bool stated = origin.is("counter");
      if (!stated && (origin.is_text() || !counted.has(name))) continue;
      Finding& finding =
          sink.add(subject_of(manifest, target),
                   stated ? "name comes from a counter of the process"
                          : "name ends with a counter, and another differs only in the number",
                   evidence(name, "registered under this name" + site_of(target)));
      if (stated) finding.related.push_back(evidence(origin, "stated here"));
    }
  }
}

}  // namespace

extern constinit const Rule name_counter{
    .id = "name-counter",
    .title = "target named by a per-process counter",
    .rationale =
        "The number depends on how many targets were registered before, hence on the order of "
        "imports and calls. An exported program or a cached executable names the target; in "
        "another "
        "process the same name is missing, or belongs to another kernel, which then runs on the "
        "wrong data without an error.",
    .example = R"({"name": "engine_numba_ffi_7", "platform": "cpu", "name_from": "counter"})",
    .fix = "derive the name from the content: source, dtypes and options",
    .severity = Severity::warning,
    .inspects = "registered target",
    .needs = {Key::targets},
    .check = check,
};

}  // namespace opseal
