#include "rules/probe_verdicts.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "opseal/rule.h"
#include "rules/probe_facts.h"

namespace opseal {
namespace {

enum class Verdict { none, confirmed, refuted };

struct Decision {
  std::string_view rule;
  // What one probe says of a finding of that rule.
  Verdict (*decide)(const Finding&, const Fact& probe);
};

// A spec and what the handler itself says when it refuses calls. Whether the two agree was found
// when the signature was recovered, from the same spec.
Verdict by_signature(const Finding& finding, const Fact& probe) {
  if (!probe[Key::kind].is("signature") || !probe[Key::target].is(finding.subject)) {
    return Verdict::none;
  }
  if (probe[Key::status].is("passed")) return Verdict::refuted;
  for (const Fact deviation : probe[Key::deviations].items()) {
    if (deviation[Key::kind].is("signature")) return Verdict::confirmed;
  }
  return Verdict::none;
}

// A symbol that was opened is there; one that the loader didn't find is not.
Verdict by_symbol(const Finding& finding, const Fact& probe) {
  const Fact symbol = probe[Key::symbol];
  if (!probe[Key::kind].is("metadata") || !symbol.is_text()) return Verdict::none;
  for (const Fact named : {symbol, probe[Key::library]}) {
    if (finding.message.find(quote(named.text())) == finding.message.npos) return Verdict::none;
  }
  if (probe[Key::status].is("passed")) return Verdict::refuted;
  const bool missing = probe[Key::reason].text().starts_with("the library exports no ");
  return missing ? Verdict::confirmed : Verdict::none;
}

constexpr Decision decisions[] = {
    {"export-missing", by_symbol},
    {"spec-signature-mismatch", by_signature},
};

}  // namespace

std::uint64_t apply_probe_verdicts(const Facts& facts, std::vector<Finding>& findings) {
  std::uint64_t refuted = 0;
  for (const Decision& decision : decisions) {
    const auto gone = [&](Finding& finding) {
      if (finding.rule->id != decision.rule) return false;
      Verdict verdict = Verdict::none;
      for_each_probe(facts, [&](const Fact& probe) {
        if (verdict != Verdict::none) return;
        verdict = decision.decide(finding, probe);
        if (verdict != Verdict::confirmed) return;
        finding.confirmed = true;
        finding.related.push_back(
            evidence(probe, "confirmed by probe " + quote(probe[Key::identity].text())));
      });
      return verdict == Verdict::refuted;
    };
    const auto end = std::remove_if(findings.begin(), findings.end(), gone);
    refuted += static_cast<std::uint64_t>(std::distance(end, findings.end()));
    findings.erase(end, findings.end());
  }
  return refuted;
}

}  // namespace opseal
