#include <algorithm>
#include <string>
#include <vector>

#include "opseal/platforms.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/sources.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// `one-api` and `ONEAPI` are one word in two spellings.
std::string letters(std::string_view word) {
  std::string kept = lower(word);
  std::erase_if(kept, [](char byte) { return byte == '_' || byte == '-' || byte == ' '; });
  return kept;
}

// The accepted spelling of what was meant, or empty where the word may be the name of a plugin:
// also a word for the same device (`SYCL` for `ONEAPI`) may be one.
std::string_view meant(std::string_view written, const std::vector<std::string_view>& accepted) {
  // Longer words are no platforms.
  if (written.empty() || written.size() > 64) return {};
  const std::string plain = letters(written);
  for (const std::string_view word : accepted) {
    if (letters(word) == plain) return word;
  }
  if (canonical_platform(written).role != PlatformRole::unknown) return {};
  // Short words are near to everything, and a slip seldom hits the first letter, whereas families
  // of plugins differ in it.
  std::vector<std::string_view> candidates;
  for (const std::string_view word : accepted) {
    if (word.size() >= 4 && lower(word)[0] == plain[0]) candidates.push_back(word);
  }
  return plain.size() < 4 ? std::string_view() : nearest_name(written, candidates);
}

// XLA brings the platform of its C++ macro to one spelling itself; those are the rows of sources
// that say what the handler is.
bool is_any_case(const Fact& manifest, const Fact& target) {
  return is_of_sources(manifest) && target[Key::handler_kind].said() && !is_in_python(target);
}

void check(const Facts& facts, Sink& sink) {
  const std::vector<std::string_view> accepted = xla_registration_platforms();
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    if (!registers_with_xla(manifest)) continue;
    for (const Fact target : manifest[Key::targets].items()) {
      const Fact platform = target[Key::platform];
      if (!platform.is_text()) continue;
      const std::string_view written = platform.text();
      if (std::find(accepted.begin(), accepted.end(), written) != accepted.end()) {
        sink.inspected();
        continue;
      }
      const std::string_view wanted = meant(written, accepted);
      if (wanted.empty() || (is_any_case(manifest, target) && lower(wanted) == lower(written))) {
        continue;
      }
      sink.inspected();
      Finding& finding =
          sink.add(subject_of(manifest, target),
                   "registered for platform " + quote(written) +
                       ", a spelling that is never looked up; expected " + quote(wanted),
                   evidence(platform, "platform stated here" + site_of(target)));
      finding.fix = "register for " + quote(wanted);
    }
  }
}

}  // namespace

extern constinit const Rule platform_string{
    .id = "platform-string",
    .title = "target registered for a platform that the framework never looks up",
    .rationale =
        "The framework accepts any text as a platform. A spelling that no plugin uses goes to a "
        "waiting list that nobody reads, without an error; the call then says that the handler was "
        "not found, although registration ran.",
    .example =
        R"({"opseal_manifest": 1, "system": "jax", "targets": [{"name": "mv", "platform": "cuda"}]})",
    .fix = "register for `cpu` or `Host`, `gpu` or `CUDA`, `ROCM`, `ONEAPI`",
    .severity = Severity::error,
    .inspects = "target with a platform, registered with XLA",
    .needs = {Key::targets, Key::platform},
    .check = check,
};

}  // namespace opseal
