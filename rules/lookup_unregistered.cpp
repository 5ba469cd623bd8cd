#include <algorithm>

#include "opseal/rule.h"
#include "rules/dispatch_kernels.h"
#include "rules/lookups.h"

namespace opseal {
namespace {

// Kernels that all look-ups together may walk; real engines look up some hundred.
constexpr std::uint64_t most_steps = 5'000'000;
constexpr std::size_t most_suggestions = 100;

enum class Answer { yes, no, unknown };

class ManifestCheck {
 public:
  ManifestCheck(const Fact& manifest, Sink& sink)
      : manifest_(manifest), sink_(sink), names_(manifest), registered_(manifest) {}

  void judge(const Fact& lookup) {
    if (!lookup[Key::operator_].is_text() || steps_ > most_steps) return;
    const Bearers& bearers = registered_.of(lookup);
    if (bearers.empty()) {
      report_unknown(lookup);
      return;
    }
    // A target under another runtime is `registry-duplicate-runtime`.
    if (bearers.operators.empty() && bearers.records.empty()) return;
    if (bearers.operators.size() + bearers.records.size() > LookedUp::most_bearers) return;
    if (!bearers.targets.empty()) return;
    Fact near;
    const Answer operators = ask_operators(lookup, bearers, near);
    const Answer records = ask_records(lookup, bearers);
    if (operators == Answer::unknown || records == Answer::unknown) return;
    sink_.inspected();
    if (operators == Answer::yes || records == Answer::yes) return;
    const Fact other =
        bearers.operators.empty() ? bearers.records.front() : bearers.operators.front();
    Finding& finding = sink_.add(std::string(lookup[Key::operator_].text()),
                                 "looks up " + lookup_text(lookup) + lookup_site(lookup) + ", " +
                                     (near.said() ? "registered for that platform without the kind"
                                                  : "not registered for that platform or kind"),
                                 evidence(lookup, "looked up here"));
    finding.related.push_back(near.said()
                                  ? evidence(near, "kernel of that platform" + site_of(near))
                                  : evidence(other, "registered here" + site_of(other)));
  }

 private:
  void report_unknown(const Fact& lookup) {
    // A manifest of tables alone says nothing about other names.
    if (!registered_.complete() || (!has_operators_ && !has_targets_)) {
      return;
    }
    sink_.inspected();
    std::string message = "looks up " + lookup_text(lookup) + lookup_site(lookup) +
                          ", and nothing is registered under that name";
    if (suggestions_++ < most_suggestions) {
      if (candidates_.empty()) collect_candidates();
      message += did_you_mean(lookup[Key::operator_].text(), candidates_);
    }
    Finding& finding = sink_.add(std::string(lookup[Key::operator_].text()), std::move(message),
                                 evidence(lookup[Key::operator_], "looked up here"));
    const Fact list = manifest_[has_operators_ ? Key::operators : Key::targets];
    finding.related.push_back(evidence(list, "registrations listed here"));
  }

  void collect_candidates() {
    for (const Key key : {Key::operators, Key::targets}) {
      for (const Fact item : manifest_[key].items()) {
        if (candidates_.size() == 10000) return;
        if (item[Key::name].is_text()) candidates_.push_back(item[Key::name].text());
      }
    }
  }

  // `near` gets a kernel of the platform that lacks the kind.
  Answer ask_operators(const Fact& lookup, const Bearers& bearers, Fact& near) {
    const Fact platform = lookup[Key::platform];
    const Fact kind = lookup[Key::kind];
    Answer answer = Answer::no;
    for (const Fact op : bearers.operators) {
      const Fact kernels = op[Key::kernels];
      steps_ += kernels.size();
      if (!all_read(kernels) || op[Key::function_body].truth() || op[Key::fallback].size() > 0) {
        answer = Answer::unknown;
        continue;
      }
      if (platform.is_text() && (!platform_was_visible(manifest_, platform, names_) ||
                                 lists(manifest_[Key::backend_fallbacks], platform))) {
        answer = Answer::unknown;
      }
      for (const Fact kernel : kernels.items()) {
        if (++steps_ > most_steps) return Answer::unknown;
        if (!is_active_kernel(kernel) || !serves(platform, kernel)) continue;
        if (!kind.is_text()) return Answer::yes;
        if (!says_what_it_takes(kernel)) return Answer::unknown;
        bool takes = false;
        for_each_taken(kernel, [&](const Fact& text) {
          ++steps_;
          takes = takes || same_kind(text.text(), kind.text());
        });
        if (takes) return Answer::yes;
        near = kernel;
      }
    }
    return answer;
  }

  bool serves(const Fact& platform, const Fact& kernel) {
    return !platform.is_text() || kernel[Key::backend].name() == platform.name() ||
           names_.reaches(platform, kernel[Key::platform]);
  }

  bool lists(const Fact& list, const Fact& platform) {
    for (const Fact item : list.items()) {
      if (names_.reaches(platform, item)) return true;
    }
    return false;
  }

  static bool same_kind(std::string_view a, std::string_view b) {
    const Dtype* left = find_dtype(a);
    const Dtype* right = find_dtype(b);
    if (left != nullptr && right != nullptr) return same_dtype(*left, *right);
    return canonical_kind(a) == canonical_kind(b);
  }

  Answer ask_records(const Fact& lookup, const Bearers& bearers) {
    const Fact platform = lookup[Key::platform];
    const Fact kind = lookup[Key::kind];
    for (const Fact record : bearers.records) {
      const Fact backend = record[Key::backend];
      if (platform.is_text() && backend.is_text() && platform.name() != backend.name() &&
          !names_.reaches(platform, backend)) {
        continue;
      }
      const Fact table = record[Key::table];
      if (!all_kinds_read(table[Key::entries])) return Answer::unknown;
      if (!kind.is_text() || !table[Key::default_].is_null()) return Answer::yes;
      for (const Fact entry : table[Key::entries].items()) {
        if (++steps_ > most_steps) return Answer::unknown;
        if (same_kind(entry[Key::kind].text(), kind.text())) return Answer::yes;
      }
    }
    return Answer::no;
  }

  Fact manifest_;
  // Counting a list walks it.
  const bool has_operators_ = manifest_[Key::operators].size() > 0;
  const bool has_targets_ = manifest_[Key::targets].size() > 0;
  Sink& sink_;
  PlatformNames names_;
  LookedUp registered_;
  std::vector<std::string_view> candidates_;
  std::size_t suggestions_ = 0;
  std::uint64_t steps_ = 0;
};

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    if (manifest[Key::dispatch].size() == 0) continue;
    ManifestCheck manifest_check(manifest, sink);
    for (const Fact dispatch : manifest[Key::dispatch].items()) {
      for (const Fact lookup : dispatch[Key::lookups].items()) manifest_check.judge(lookup);
    }
  }
}

}  // namespace

extern constinit const Rule lookup_unregistered{
    .id = "lookup-unregistered",
    .title = "code asks by name for what nobody registers",
    .rationale =
        "The name, the platform and the kind are built from text at run time, so no compiler and "
        "no linker compares them with what is registered. The look-up finds nothing: the call "
        "fails on that device or for that dtype, or takes a slow path without a message.",
    .example =
        R"({"opseal_manifest": 1, "system": "engine", "operators": [{"name": "add", "kernels": )"
        R"([{"platform": "cuda", "dtypes": ["f32"]}]}], "dispatch": [{"operator": "add", )"
        R"("lookups": [{"operator": "add", "platform": "rocm", "kind": "f16"}]}]})",
    .fix = "register the kernel, or mend the words of the look-up",
    .severity = Severity::error,
    .inspects = "look-up by name beside registrations that are known",
    .needs = {Key::dispatch, Key::lookups},
    .check = check,
};

}  // namespace opseal
