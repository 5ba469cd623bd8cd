#include "cli/tiers.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "opseal/sources.h"

namespace opseal {

Tiers::Tiers(const Facts& facts) : of_sources_(facts.files.size(), false) {
  for (const Document& document : facts.documents) {
    if (facts.said[static_cast<std::size_t>(Key::tier)]) find_typed(facts.root(document));
    const bool of_sources = is_of_sources(facts.root(document));
    // A file may be a list of manifests.
    documents_.push_back({document.file, facts.nodes[document.first].offset(), of_sources});
    if (!of_sources) continue;
    of_sources_[document.file] = true;
    const auto first = std::lower_bound(
        facts.other_files.begin(), facts.other_files.end(), document.first,
        [](const OtherFile& mark, std::uint32_t node) { return mark.node < node; });
    for (auto mark = first; mark != facts.other_files.end() && mark->node < document.end; ++mark) {
      of_sources_[mark->file] = true;
    }
  }
}

// Objects with a tier are found by the key, wherever they stand.
void Tiers::find_typed(const Fact& root) {
  const Facts& facts = root.facts();
  const std::uint32_t end = root.index() + extent(root.node());
  // Ends of the containers around a node, and their first nodes.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> around;
  for (std::uint32_t node = root.index(); node < end; ++node) {
    while (!around.empty() && around.back().second <= node) around.pop_back();
    const Fact fact = facts.fact(node);
    if (fact.node().is_container()) around.emplace_back(node, node + extent(fact.node()));
    if (fact.key() != Key::tier || around.empty() || !fact.is("typed")) continue;
    const auto [first, behind] = around.back();
    for (std::uint32_t held = first; held < behind; ++held) {
      const Location where = facts.place(held);
      typed_.insert({where.file, where.offset});
    }
  }
}

Tier Tiers::of(const Finding& finding) const {
  const Location& where = finding.evidence.where;
  if (where.known() && typed_.count({where.file, where.offset}) > 0) return Tier::typed;
  const bool source = where.known() && where.file < of_sources_.size() && of_sources_[where.file] &&
                      !is_of_another(where);
  return source && finding.rule->tier == Tier::manifest ? Tier::lexed : finding.rule->tier;
}

// It stands in a manifest of the same file that is not of sources.
bool Tiers::is_of_another(const Location& where) const {
  const auto after = std::upper_bound(
      documents_.begin(), documents_.end(), where, [](const Location& wanted, const Start& start) {
        return std::tie(wanted.file, wanted.offset) < std::tie(start.file, start.offset);
      });
  return after != documents_.begin() && std::prev(after)->file == where.file &&
         !std::prev(after)->of_sources;
}

}  // namespace opseal
