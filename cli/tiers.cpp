#include "cli/tiers.h"

#include <algorithm>

#include "opseal/sources.h"

namespace opseal {

Tiers::Tiers(const Facts& facts) : of_sources_(facts.files.size(), false) {
  for (const Document& document : facts.documents) {
    if (!is_of_sources(facts.root(document))) continue;
    of_sources_[document.file] = true;
    const auto first = std::lower_bound(
        facts.other_files.begin(), facts.other_files.end(), document.first,
        [](const OtherFile& mark, std::uint32_t node) { return mark.node < node; });
    for (auto mark = first; mark != facts.other_files.end() && mark->node < document.end; ++mark) {
      of_sources_[mark->file] = true;
    }
  }
}

Tier Tiers::of(const Finding& finding) const {
  const Location& where = finding.evidence.where;
  const bool source = where.known() && where.file < of_sources_.size() && of_sources_[where.file];
  return source && finding.rule->tier == Tier::manifest ? Tier::lexed : finding.rule->tier;
}

}  // namespace opseal
