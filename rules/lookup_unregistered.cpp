#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "opseal/rule.h"
#include "opseal/sources.h"
#include "rules/dispatch_kernels.h"
#include "rules/lookups.h"

namespace opseal {
namespace {

// Kernels that all look-ups together may walk; real engines look up some hundred.
constexpr std::uint64_t most_steps = 5'000'000;
constexpr std::size_t most_suggestions = 100;

// Longer chains are nobody's, and each member is held against each kernel.
constexpr std::size_t longest_chain = 16;

enum class Answer { yes, no, unknown };

class Check {
 public:
  Check(const Facts& facts, Sink& sink) : sink_(sink), registered_(facts) {
    for (const Document& document : facts.documents) {
      const Fact manifest = facts.root(document);
      for (const Key key : {Key::operators, Key::targets}) {
        const Fact list = manifest[key];
        if (!document.settings && list.size() > 0)
          lists_[manifest[Key::system].name()].push_back(list);
      }
    }
  }

  void judge(const Fact& manifest, const Fact& lookup) {
    if (!lookup[Key::operator_].is_text() || steps_ > most_steps) return;
    const Bearers& bearers = registered_.of(lookup);
    if (bearers.empty()) {
      report_unknown(manifest, lookup);
      return;
    }
    // A target under another runtime is `registry-duplicate-runtime`.
    if (!bearers.targets.empty()) return;
    if (bearers.operators.size() + bearers.records.size() > LookedUp::most_bearers) return;
    // What another framework calls so says nothing about the kernels of this one.
    const std::vector<Bearer> operators = of_system(bearers.operators, manifest);
    const std::vector<Bearer> records = of_system(bearers.records, manifest);
    if (operators.empty() && records.empty()) return;
    // Who asks for an operator, and for no platform, gets it where it is defined. That no kernel is
    // behind it is `def-without-impl`.
    if (!lookup[Key::platform].is_text() && !lookup[Key::kind].is_text() && is_defined(operators)) {
      sink_.inspected();
      return;
    }
    Fact near;
    chain_.clear();
    const Answer by_operators = ask_operators(manifest, lookup, operators, near);
    const Answer by_records = ask_records(manifest, lookup, records);
    if (by_operators == Answer::unknown || by_records == Answer::unknown) return;
    sink_.inspected();
    if (by_operators == Answer::yes || by_records == Answer::yes) return;
    if (operators.empty() && !lookup[Key::platform].is_text() && lookup[Key::kind].is_text()) {
      report_key(lookup, records);
      return;
    }
    const Fact other = operators.empty() ? records.front().row : operators.front().row;
    Finding& finding =
        sink_.add(std::string(lookup[Key::operator_].text()),
                  "looks up " + lookup_text(lookup) + lookup_site(lookup) + ", " +
                      (near.said() ? "registered for that platform without the kind"
                                   : "not registered for that platform or kind") +
                      (chain_.empty() ? "" : ", and its fallback chain does not take it either"),
                  evidence(lookup, "looked up here"));
    finding.related.push_back(near.said()
                                  ? evidence(near, "kernel of that platform" + site_of(near))
                                  : evidence(other, "registered here" + site_of(other)));
  }

 private:
  static std::vector<Bearer> of_system(const std::vector<Bearer>& bearers, const Fact& manifest) {
    std::vector<Bearer> own;
    for (const Bearer& bearer : bearers) {
      if (bearer.manifest[Key::system].name() == manifest[Key::system].name()) {
        own.push_back(bearer);
      }
    }
    return own;
  }

  static bool is_defined(const std::vector<Bearer>& operators) {
    return std::any_of(operators.begin(), operators.end(),
                       [](const Bearer& bearer) { return bearer.row[Key::schema].is_text(); });
  }

  void report_unknown(const Fact& manifest, const Fact& lookup) {
    const std::vector<Fact>& lists = lists_[manifest[Key::system].name()];
    // A manifest of tables alone says nothing about other names.
    if (!registered_.complete() || lists.empty()) return;
    sink_.inspected();
    std::string message = "looks up " + lookup_text(lookup) + lookup_site(lookup) +
                          ", and nothing is registered under that name";
    if (suggestions_++ < most_suggestions) {
      message += did_you_mean(lookup[Key::operator_].text(), candidates(manifest, lists));
    }
    Finding& finding = sink_.add(std::string(lookup[Key::operator_].text()), std::move(message),
                                 evidence(lookup[Key::operator_], "looked up here"));
    // The manifest's own, if it has one.
    Fact list = lists.front();
    for (const Key key : {Key::targets, Key::operators}) {
      if (manifest[key].size() > 0) list = manifest[key];
    }
    finding.related.push_back(evidence(list, "registrations listed here"));
  }

  // A table of the project's own, which is asked by key.
  void report_key(const Fact& lookup, const std::vector<Bearer>& records) {
    const Fact entries = records.front().row[Key::table][Key::entries];
    std::vector<std::string_view> keys;
    for (const Fact entry : entries.items()) {
      if (entry[Key::kind].is_text() && keys.size() < 1000) keys.push_back(entry[Key::kind].text());
    }
    std::string message = "looks up " + quote(lookup[Key::kind].text()) + lookup_site(lookup) +
                          ", which is none of the " + plural(entries.size(), "registered key");
    if (suggestions_++ < most_suggestions) {
      message += did_you_mean(lookup[Key::kind].text(), keys);
    }
    Finding& finding = sink_.add(std::string(lookup[Key::operator_].text()), std::move(message),
                                 evidence(lookup, "looked up here"));
    if (entries.size() == 0) return;
    const Fact first = *entries.items().begin();
    finding.related.push_back(evidence(first, "the first key" + site_of(first)));
  }

  const std::vector<std::string_view>& candidates(const Fact& manifest,
                                                  const std::vector<Fact>& lists) {
    std::vector<std::string_view>& names = candidates_[manifest[Key::system].name()];
    if (!names.empty()) return names;
    for (const Fact& list : lists) {
      for (const Fact item : list.items()) {
        if (names.size() == 10000) return names;
        if (item[Key::name].is_text()) names.push_back(item[Key::name].text());
      }
    }
    return names;
  }

  // `near` gets a kernel of the platform that lacks the kind.
  Answer ask_operators(const Fact& manifest, const Fact& lookup,
                       const std::vector<Bearer>& operators, Fact& near) {
    const Fact platform = lookup[Key::platform];
    const Fact kind = lookup[Key::kind];
    Answer answer = Answer::no;
    for (const Bearer& bearer : operators) {
      const Fact op = bearer.row;
      const Fact kernels = op[Key::kernels];
      steps_ += kernels.size();
      if (!all_read(kernels) || op[Key::function_body].truth() || !add_chain(op, platform)) {
        answer = Answer::unknown;
        continue;
      }
      if (platform.is_text() && !is_answered_by_rows(bearer.manifest, platform)) {
        answer = Answer::unknown;
      }
      for (const Fact next : chain_) {
        if (!is_answered_by_rows(bearer.manifest, next)) answer = Answer::unknown;
      }
      for (const Fact kernel : kernels.items()) {
        if (++steps_ > most_steps) return Answer::unknown;
        if (!is_active_kernel(kernel)) continue;
        const bool own = serves(manifest, bearer.manifest, platform, kernel);
        if (!own && !is_in_chain(manifest, bearer.manifest, kernel)) continue;
        if (!kind.is_text()) return Answer::yes;
        if (!says_what_it_takes(kernel)) return Answer::unknown;
        bool takes = false;
        for_each_taken(kernel, [&](const Fact& text) {
          ++steps_;
          takes = takes || same_kind(text.text(), kind.text());
        });
        if (takes) return Answer::yes;
        if (own) near = kernel;
      }
    }
    return answer;
  }

  // Where the call goes on when the platform declines. False where that isn't known.
  bool add_chain(const Fact& op, const Fact& platform) {
    const Fact chain = op[Key::fallback];
    if (chain.size() == 0) return true;
    if (!platform.is_text() || !all_read(chain)) return false;
    if (chain_.size() + chain.size() > longest_chain) return false;
    for (const Fact next : chain.items()) chain_.push_back(next);
    return true;
  }

  // The kernels of the platform are all there to see.
  bool is_answered_by_rows(const Fact& manifest, const Fact& platform) {
    if (!platform_was_visible(manifest, platform, names_of(manifest))) return false;
    for (const Fact item : manifest[Key::backend_fallbacks].items()) {
      if (names_of(manifest).reaches(platform, item)) return false;
    }
    return true;
  }

  // Each side may have its own aliases.
  bool reaches(const Fact& asking, const Fact& registering, const Fact& platform,
               const Fact& registered) {
    return names_of(asking).reaches(platform, registered) ||
           names_of(registering).reaches(platform, registered);
  }

  bool serves(const Fact& asking, const Fact& registering, const Fact& platform,
              const Fact& kernel) {
    return !platform.is_text() || kernel[Key::backend].name() == platform.name() ||
           reaches(asking, registering, platform, kernel[Key::platform]);
  }

  bool is_in_chain(const Fact& asking, const Fact& registering, const Fact& kernel) {
    return std::any_of(chain_.begin(), chain_.end(),
                       [&](const Fact& next) { return serves(asking, registering, next, kernel); });
  }

  static bool same_kind(std::string_view a, std::string_view b) {
    const Dtype* left = find_dtype(a);
    const Dtype* right = find_dtype(b);
    if (left != nullptr && right != nullptr) return same_dtype(*left, *right);
    return canonical_kind(a) == canonical_kind(b);
  }

  Answer ask_records(const Fact& manifest, const Fact& lookup, const std::vector<Bearer>& records) {
    const Fact platform = lookup[Key::platform];
    const Fact kind = lookup[Key::kind];
    for (const Bearer& bearer : records) {
      const Fact backend = bearer.row[Key::backend];
      const auto is_of_backend = [&](const Fact& asked) {
        return asked.name() == backend.name() || reaches(manifest, bearer.manifest, asked, backend);
      };
      if (platform.is_text() && backend.is_text() && !is_of_backend(platform) &&
          std::none_of(chain_.begin(), chain_.end(), is_of_backend)) {
        continue;
      }
      const Fact table = bearer.row[Key::table];
      if (!all_kinds_read(table[Key::entries])) return Answer::unknown;
      if (!kind.is_text() || !table[Key::default_].is_null()) return Answer::yes;
      for (const Fact entry : table[Key::entries].items()) {
        if (++steps_ > most_steps) return Answer::unknown;
        // A dictionary of the project's own knows no spellings.
        const bool same = is_of_sources(bearer.manifest)
                              ? entry[Key::kind].name() == kind.name()
                              : same_kind(entry[Key::kind].text(), kind.text());
        if (same) return Answer::yes;
      }
    }
    return Answer::no;
  }

  PlatformNames& names_of(const Fact& manifest) {
    return names_.try_emplace(manifest.index(), manifest).first->second;
  }

  Sink& sink_;
  LookedUp registered_;
  std::unordered_map<std::uint32_t, PlatformNames> names_;
  // By system: the lists that hold anything, and the names in them.
  std::unordered_map<Name, std::vector<Fact>> lists_;
  std::unordered_map<Name, std::vector<std::string_view>> candidates_;
  // Of the look-up that is judged.
  std::vector<Fact> chain_;
  std::size_t suggestions_ = 0;
  std::uint64_t steps_ = 0;
};

void check(const Facts& facts, Sink& sink) {
  if (!facts.said[static_cast<std::size_t>(Key::lookups)]) return;
  Check run(facts, sink);
  for (const Document& document : facts.documents) {
    if (document.settings) continue;
    const Fact manifest = facts.root(document);
    for (const Fact dispatch : manifest[Key::dispatch].items()) {
      for (const Fact lookup : dispatch[Key::lookups].items()) run.judge(manifest, lookup);
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
