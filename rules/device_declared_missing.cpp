#include <algorithm>

#include "opseal/platforms.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// More platforms than any registry has.
constexpr std::size_t most_platforms = 64;

// Each word once.
std::vector<Fact> distinct(const Fact& list) {
  std::vector<Fact> words;
  for (const Fact word : list.items()) {
    if (!word.is_text() || words.size() > most_platforms) continue;
    const bool known = std::any_of(words.begin(), words.end(),
                                   [&](const Fact& other) { return other.name() == word.name(); });
    if (!known) words.push_back(word);
  }
  return words;
}

class ManifestCheck {
 public:
  ManifestCheck(const Fact& manifest, Sink& sink)
      : manifest_(manifest), sink_(sink), names_(manifest) {}

  // Strikes what a registration reaches off the list of declared platforms.
  void run(const Facts& facts) {
    waiting_ = distinct(manifest_[Key::platforms]);
    if (waiting_.empty() || waiting_.size() > most_platforms) return;
    const std::vector<Fact> declared = waiting_;
    bool any = false;
    for (const Fact op : manifest_[Key::operators].items()) {
      if (!all_read(op[Key::kernels])) return;
      for (const Fact kernel : op[Key::kernels].items()) {
        if (!kernel[Key::platform].is_text()) return;
        any = true;
        strike(kernel[Key::platform]);
        strike_word(kernel[Key::backend]);
      }
      for (const Fact platform : op[Key::stub_platforms].items()) strike(platform);
    }
    for (const Fact target : manifest_[Key::targets].items()) {
      if (!target[Key::platform].is_text()) return;
      any = true;
      strike(target[Key::platform]);
    }
    if (!any) return;
    for (const Fact dispatch : manifest_[Key::dispatch].items()) strike(dispatch[Key::backend]);
    for (const Fact platform : manifest_[Key::backend_fallbacks].items()) strike(platform);
    // Then `platform-empty` tells it, operator by operator.
    for (const Fact platform : required_platforms(facts, manifest_, names_)) strike(platform);
    std::erase_if(waiting_, [this](const Fact& platform) {
      return !platform_was_visible(manifest_, platform, names_);
    });
    sink_.inspected(declared.size());
    for (const Fact platform : waiting_) {
      Finding& finding = sink_.add(std::string(platform.text()),
                                   "declared platform " + quote(platform.text()) +
                                       " has 0 kernels and 0 targets in the whole manifest",
                                   evidence(platform, "declared here"));
      const Fact list = manifest_[Key::operators].size() > 0 ? manifest_[Key::operators]
                                                             : manifest_[Key::targets];
      finding.related.push_back(evidence(list, "registrations listed here"));
    }
  }

 private:
  void strike(const Fact& registered) {
    // Millions of registrations say a dozen words.
    if (waiting_.empty() || !registered.is_text() || registered.name() == last_) return;
    last_ = registered.name();
    std::erase_if(waiting_, [&](const Fact& asked) {
      return asked.name() == registered.name() || names_.reaches(asked, registered);
    });
  }
  void strike_word(const Fact& backend) {
    if (!waiting_.empty() && backend.is_text()) {
      std::erase_if(waiting_, [&](const Fact& asked) { return asked.name() == backend.name(); });
    }
  }

  Fact manifest_;
  Sink& sink_;
  PlatformNames names_;
  std::vector<Fact> waiting_;
  Name last_ = Names::missing;
};

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    if (!document.settings) ManifestCheck(facts.root(document), sink).run(facts);
  }
}

}  // namespace

extern constinit const Rule device_declared_missing{
    .id = "device-declared-missing",
    .title = "declared platform for which nothing at all is registered",
    .rationale =
        "The package says that it serves the device, and not one of its operators has a kernel "
        "there: the part that registers them was left out of the build, or its registrar never "
        "ran. Every call on that device fails, although the package was installed for it.",
    .example =
        R"({"opseal_manifest": 1, "system": "engine", "platforms": ["cpu", "cuda"],
 "operators": [{"name": "nms", "kernels": [{"platform": "cpu"}]}]})",
    .fix = "install or build the part for that platform, or do not declare it",
    .severity = Severity::error,
    .profile = Profile::strict,
    .inspects = "declared platform of a manifest whose registrations all say theirs",
    .needs = {Key::platforms, Key::platform},
    .check = check,
};

}  // namespace opseal
