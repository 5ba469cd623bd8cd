#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "opseal/rule.h"
#include "rules/declared_dtypes.h"
#include "rules/dispatch_kernels.h"
#include "rules/host_dtypes.h"

namespace opseal {
namespace {

constexpr std::size_t most_names = 64;

// Records of one operator, and platforms with a fallback of their own: each is held against every
// operator, and no engine has more.
constexpr std::size_t most_records = 64;

// Dispatch records by the operator's name.
using Records = std::unordered_map<Name, std::vector<Fact>>;

class OperatorCheck {
 public:
  OperatorCheck(const Fact& manifest, const Records& records, Sink& sink)
      : manifest_(manifest), records_(records), names_(manifest), sink_(sink) {}

  void judge(const Fact& op) {
    const Fact chain = op[Key::fallback];
    if (chain.size() == 0 || !all_read(chain) || op[Key::function_body].truth()) return;
    Fact last;
    for (const Fact next : chain.items()) last = next;
    // Takes whatever arrives.
    if (too_many_fallbacks_) return;
    if (is_partly_unread(manifest_[Key::backend_fallbacks])) return;
    for (const Fact platform : manifest_[Key::backend_fallbacks].items()) {
      if (names_.reaches(last, platform)) return;
    }
    if (!platform_was_visible(manifest_, last, names_)) return;
    reset();
    if (!all_read(op[Key::kernels]) && op[Key::kernels].said()) return;
    for (const Fact kernel : op[Key::kernels].items()) collect_kernel(kernel, last);
    if (const auto found = records_.find(op[Key::name].name()); found != records_.end()) {
      if (found->second.size() > most_records) return;
      for (const Fact record : found->second) collect_record(record, last);
    }
    // A last member that says nothing about itself is not judged.
    if (!last_known_ || !last_list_.said()) return;
    last_takes_.seal();
    others_take_.seal();
    last_failed_.seal();
    sink_.inspected();
    const Fact declared = declared_dtypes(op);
    std::vector<std::string> nobody;
    std::vector<std::string> passed_on;
    Fact first;
    std::set<std::string> noted;
    const auto note = [&](const Fact& text, std::vector<std::string>& names) {
      if (last_takes_.has(text.text()) || waived_.may_have(text.text())) return;
      if (names.size() == most_names) return;
      if (!noted.insert(canonical_kind(text.text())).second) return;
      if (!first.said()) first = text;
      names.emplace_back(text.text());
    };
    if (others_known_) {
      for (const Fact text : declared.items()) {
        if (!others_take_.has(text.text())) note(text, nobody);
      }
    }
    if (nobody.empty()) {
      const bool on_host = is_host(names_.of(last).name);
      for (const Fact text : taken_) {
        const Dtype* dtype = find_dtype(text.text());
        const bool planned = last_failed_.has(text.text());
        if (on_host && !planned && dtype != nullptr && is_narrow_float(*dtype)) continue;
        note(text, passed_on);
      }
    }
    report(op, last, nobody, passed_on, first);
  }

 private:
  void reset() {
    last_takes_ = {};
    last_failed_ = {};
    others_take_ = {};
    waived_ = {};
    waived_.seal();
    taken_.clear();
    last_known_ = true;
    others_known_ = true;
    last_list_ = {};
  }

  bool is_last(const Fact& platform, const Fact& backend, const Fact& last) {
    return backend.name() == last.name() || platform.name() == last.name() ||
           (platform.is_text() && names_.reaches(last, platform));
  }

  void collect_kernel(const Fact& kernel, const Fact& last) {
    if (!is_active_kernel(kernel) || kernel[Key::stub].truth()) return;
    const bool of_last = is_last(kernel[Key::platform], kernel[Key::backend], last);
    KindSet failed;
    failed.add_all(kernel[Key::failed]);
    failed.add_all(kernel[Key::refused]);
    failed.seal();
    if (of_last) last_failed_.add_all(kernel[Key::failed]);
    bool said = for_each_first_dtype(kernel, [&](const Fact& text) {
      if (failed.has(text.text())) return;
      (of_last ? last_takes_ : others_take_).add(text.text());
      if (!of_last && failed.whole()) taken_.push_back(text);
    });
    said = said && failed.whole();
    if (of_last) {
      last_known_ = last_known_ && said;
      if (!last_list_.said()) last_list_ = kernel;
    } else {
      others_known_ = others_known_ && said;
    }
  }

  // What the table launches; without a table, what the predicate accepts.
  void collect_record(const Fact& record, const Fact& last) {
    if (!record[Key::backend].is_text()) return;
    const bool of_last = is_last(record[Key::backend], record[Key::backend], last);
    const Fact table = record[Key::table];
    const Fact kinds = record[Key::predicate][Key::kinds];
    if (of_last) {
      waived_ = {};
      waived_.add_members(record[Key::exceptions]);
      waived_.seal();
    }
    bool known = true;
    const auto take = [&](const Fact& text) {
      (of_last ? last_takes_ : others_take_).add(text.text());
      if (!of_last) taken_.push_back(text);
    };
    if (table.said()) {
      // A default arm takes everything.
      known = all_kinds_read(table[Key::entries]) && table[Key::default_].is_null();
      // What the predicate refuses never comes to the table.
      KindSet accepted;
      accepted.add_all(kinds);
      accepted.seal();
      for (const Fact entry : table[Key::entries].items()) {
        const Fact kind = entry[Key::kind];
        if (kind.is_text() && (!kinds.is_list() || accepted.has(kind.text()))) take(kind);
      }
    } else if (kinds.is_list()) {
      known = all_read(kinds);
      for (const Fact kind : kinds.items()) {
        if (kind.is_text()) take(kind);
      }
    } else {
      return;
    }
    if (of_last) {
      last_known_ = last_known_ && known;
      if (!last_list_.said()) last_list_ = record;
    } else {
      others_known_ = others_known_ && known;
    }
  }

  void report(const Fact& op, const Fact& last, const std::vector<std::string>& nobody,
              const std::vector<std::string>& passed_on, const Fact& first) {
    if (nobody.empty() && passed_on.empty()) return;
    const std::string end = quote(last.text()) + ", the last of the fallback chain";
    const std::string message =
        nobody.empty()
            ? end + ", does not take " + quote_list(passed_on) + ", which others before it take"
            : "no member of the chain takes " + quote_list(nobody) + ", not even " + end;
    Finding& finding = sink_.add(subject_of(manifest_, op), message,
                                 evidence(last_list_, "what the last takes" + site_of(last_list_)));
    finding.related.push_back(evidence(
        first, nobody.empty() ? "taken by another here" : "declared by the operator here"));
    finding.related.push_back(evidence(last, "last of the chain"));
    // Where another takes it, the chain breaks only when that one declines.
    if (nobody.empty()) finding.severity = Severity::warning;
  }

  Fact manifest_;
  // Counting a list walks it.
  const bool too_many_fallbacks_ = manifest_[Key::backend_fallbacks].size() > most_records;
  const Records& records_;
  PlatformNames names_;
  Sink& sink_;
  KindSet last_takes_;
  // Tried there, so that somebody meant it to work.
  KindSet last_failed_;
  KindSet others_take_;
  KindSet waived_;
  std::vector<Fact> taken_;
  bool last_known_ = true;
  bool others_known_ = true;
  Fact last_list_;
};

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    Records records;
    for (const Fact dispatch : manifest[Key::dispatch].items()) {
      const Name name = dispatch[Key::operator_].name();
      if (name != Names::missing) records[name].push_back(dispatch);
    }
    OperatorCheck operators(manifest, records, sink);
    for (const Fact op : manifest[Key::operators].items()) operators.judge(op);
  }
}

}  // namespace

extern constinit const Rule fallback_chain_hole{
    .id = "fallback-chain-hole",
    .title = "last backend of a fallback chain does not take what may reach it",
    .rationale =
        "When a backend declines, the work is handed on along the chain, and nothing comes after "
        "the last. A dtype that the operator promises, or that an earlier backend takes only under "
        "conditions, then arrives where no code for it exists: the call aborts, although every "
        "single backend behaves as it says.",
    .example =
        R"({"name": "mv", "inputs": [{"name": "w", "dtypes": ["f32", "q6_k"]}], "fallback": ["cpu"],)"
        R"( "kernels": [{"platform": "cuda", "dtypes": ["f32"]}, {"platform": "cpu", "dtypes": ["f32"]}]})",
    .fix = "add the kernel to the last backend, or stop promising the dtype",
    .severity = Severity::error,
    .inspects = "operator with a fallback chain whose last member says what it takes",
    .needs = {Key::operators, Key::fallback},
    .check = check,
};

}  // namespace opseal
