#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "opseal/platforms.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/kernel_key.h"
#include "rules/library_exports.h"
#include "rules/named_targets.h"

namespace opseal {
namespace {

// A kernel whose symbol an export of its library bears.
struct Entry {
  // What the registry selects it by.
  std::uint64_t key = 0;
  // Index of the library's content.
  std::uint32_t library = 0;
  // First of the names that the address has.
  std::string_view address;
  Fact kernel;
  // What names the symbol: the kernel, or its target.
  Fact site;
  Fact symbol;
};

class AliasCheck {
 public:
  AliasCheck(const Facts& facts, Sink& sink) : sink_(sink), libraries_(facts), named_(libraries_) {}

  bool can_judge() const { return !named_.empty(); }

  void judge(const Fact& manifest) {
    targets_ = NamedTargets(manifest);
    PlatformNames names(manifest);
    for (const Fact op : manifest[Key::operators].items()) {
      if (op[Key::kernels].size() > 1) judge(manifest, op, names);
    }
  }

 private:
  void judge(const Fact& manifest, const Fact& op, PlatformNames& names) {
    entries_.clear();
    for (const Fact kernel : op[Key::kernels].items()) {
      if (is_active_kernel(kernel)) add(manifest, kernel, names);
    }
    if (entries_.size() < 2) return;
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return std::tuple(a.key, a.library, a.address, a.kernel.index()) <
             std::tuple(b.key, b.library, b.address, b.kernel.index());
    });
    for (std::size_t at = 1; at < entries_.size(); ++at) {
      const Entry& a = entries_[at - 1];
      const Entry& b = entries_[at];
      if (a.key != b.key || a.library != b.library) continue;
      sink_.inspected();
      // One symbol listed twice is `duplicate-kernel-at-key`.
      if (a.address == b.address && a.site[Key::symbol].text() != b.site[Key::symbol].text()) {
        tell(manifest, op, a, b);
      }
    }
  }

  void add(const Fact& manifest, const Fact& kernel, PlatformNames& names) {
    const Fact site = targets_.site(kernel);
    if (!site[Key::symbol].is_text() || !site[Key::library].is_text()) return;
    const Fact content = named_.find(manifest, site[Key::library].text());
    const Fact symbol =
        content.said() ? tables_.of(content).find(site[Key::symbol].text()) : Fact();
    if (!symbol.said()) return;
    const Fact alias = symbol[Key::alias_of];
    entries_.push_back({kernel_key(kernel, names), content.index(),
                        alias.is_text() ? alias.text() : symbol[Key::name].text(), kernel, site,
                        symbol});
  }

  void tell(const Fact& manifest, const Fact& op, const Entry& a, const Entry& b) {
    Finding& finding = sink_.add(subject_of(manifest, op),
                                 "alternatives " + quote(a.site[Key::symbol].text()) + " and " +
                                     quote(b.site[Key::symbol].text()) + " at " +
                                     decision_text(b.kernel) + " are one function of " +
                                     quote(b.site[Key::library].text()) + ", expected two",
                                 evidence(b.site[Key::symbol], "the later one" + site_of(b.site)));
    finding.related.push_back(evidence(a.site[Key::symbol], "the first one" + site_of(a.site)));
    const Fact& alias = a.symbol[Key::alias_of].is_text() ? a.symbol : b.symbol;
    finding.related.push_back(evidence(alias, "two names of one address"));
  }

  Sink& sink_;
  LibraryFacts libraries_;
  NamedLibraries named_;
  ExportTables tables_;
  NamedTargets targets_;
  // Of the operator at hand.
  std::vector<Entry> entries_;
};

void check(const Facts& facts, Sink& sink) {
  AliasCheck check(facts, sink);
  if (!check.can_judge()) return;
  for (const Document& document : facts.documents) {
    if (!document.settings && !document.named) check.judge(facts.root(document));
  }
}

}  // namespace

extern constinit const Rule duplicate_alias_kernel{
    .id = "duplicate-alias-kernel",
    .title = "two alternatives of one operator are one function under two names",
    .rationale =
        "A table offers two kernels at one key, between which a heuristic or a tuner decides. In "
        "the "
        "library both symbols lead to one address: an entry point was made an alias of the other "
        "while the second kernel was not written yet, or the linker folded two that were compiled "
        "to the same code. Whatever is chosen, the same code runs: timings of the two compare a "
        "kernel with itself, and a bug that one of them was to avoid is in both.",
    .example =
        R"({"opseal_manifest": 1, "system": "engine", "operators": [{"name": "mv", "kernels":)"
        R"( [{"platform": "cpu", "symbol": "mv_fast", "library": "l.so"},)"
        R"( {"platform": "cpu", "symbol": "mv_small", "library": "l.so"}]}], "libraries":)"
        R"( [{"path": "l.so", "exports": [{"name": "mv_fast"},)"
        R"( {"name": "mv_small", "alias_of": "mv_fast"}]}]})",
    .fix = "build the second kernel, or list the function once",
    .severity = Severity::error,
    .tier = Tier::bytes,
    .inspects =
        "kernel beside another one at its key, both with symbols that their library exports",
    .needs = {Key::libraries, Key::exports, Key::kernels},
    .check = check,
};

}  // namespace opseal
