#include "analyzers/join.h"

#include <utility>

#include "analyzers/fact_writer.h"

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

}  // namespace

void state_settings(const StatedSettings& stated, Facts& facts) {
  if (stated.platforms.empty() && stated.architectures.empty()) return;
  Document document;
  document.settings = true;
  document.file = static_cast<std::uint32_t>(facts.files.size());
  facts.files.push_back(stated.file);
  FactWriter writer(facts);
  document.first = writer.next();
  const std::uint32_t root = writer.open(Key::none, NodeType::object, 0);
  state_list(Key::required_platforms, stated.platforms, writer);
  state_list(Key::architectures, stated.architectures, writer);
  writer.close(root, stated.file.size);
  document.end = writer.next();
  facts.documents.push_back(document);
}

}  // namespace opseal
