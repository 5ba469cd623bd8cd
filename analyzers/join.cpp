#include "analyzers/join.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "analyzers/fact_writer.h"
#include "opseal/stated_joins.h"
#include "opseal/text.h"

namespace opseal {
namespace {

void state_list(Key key, const std::vector<StatedSettings::Text>& texts, FactWriter& writer) {
  if (texts.empty()) return;
  const std::uint64_t first = texts.front().offset;
  const std::uint32_t list = writer.open(key, NodeType::list, first);
  for (const StatedSettings::Text& text : texts) {
    writer.add_text(Key::none, text.value, text.offset, text.length);
  }
  writer.close(list, texts.back().offset + texts.back().length);
}

// A file in which a table may be spread over many places.
void state_joins(const std::vector<std::vector<StatedSettings::Text>>& joins, FactWriter& writer) {
  if (joins.empty()) return;
  const std::uint32_t list = writer.open(Key::joins, NodeType::list, joins.front().front().offset);
  for (const std::vector<StatedSettings::Text>& names : joins) state_list(Key::none, names, writer);
  writer.close(list, joins.back().back().offset + joins.back().back().length);
}

}  // namespace

void state_settings(const StatedSettings& stated, Facts& facts) {
  if (stated.platforms.empty() && stated.architectures.empty() && stated.joins.empty()) return;
  Document document;
  document.settings = true;
  document.file = static_cast<std::uint32_t>(facts.files.size());
  facts.files.push_back(stated.file);
  FactWriter writer(facts);
  document.first = writer.next();
  const std::uint32_t root = writer.open(Key::none, NodeType::object, 0);
  state_list(Key::required_platforms, stated.platforms, writer);
  state_list(Key::architectures, stated.architectures, writer);
  state_joins(stated.joins, writer);
  writer.close(root, stated.file.size);
  document.end = writer.next();
  facts.documents.push_back(document);
}

void remark_lost_joins(Facts& facts) {
  // Whoever wrote more of them made one mistake, not many.
  constexpr std::size_t most_remarks = 20;
  const std::vector<LostJoin> lost = read_stated_joins(facts).lost;
  for (std::size_t i = 0; i < lost.size() && i < most_remarks; ++i) {
    std::string message = "no operator or target is called " + quote(lost[i].text.text());
    if (!lost[i].nearest.empty()) message += "; did you mean " + quote(lost[i].nearest) + '?';
    if (i + 1 == most_remarks && lost.size() > most_remarks)
      message += "; the same holds for " + plural(lost.size() - most_remarks, "further name");
    facts.problems.push_back({lost[i].text.where(), std::move(message), {}, Severity::note});
  }
}

}  // namespace opseal
