#include "analyzers/join.h"

#include <utility>

#include "analyzers/fact_writer.h"

namespace opseal {
namespace {

void state_list(Key key, const std::vector<std::string>& values, FactWriter& writer) {
  if (values.empty()) return;
  const std::uint32_t list = writer.open(key, NodeType::list, 0);
  for (const std::string& value : values) writer.add_text(Key::none, value, 0, 0);
  writer.close(list, 0);
}

}  // namespace

void state_settings(const std::vector<std::string>& platforms,
                    const std::vector<std::string>& architectures, Facts& facts) {
  if (platforms.empty() && architectures.empty()) return;
  Document document;
  document.settings = true;
  document.file = static_cast<std::uint32_t>(facts.files.size());
  InputFile settings;
  settings.path = "opseal.toml";
  facts.files.push_back(std::move(settings));
  FactWriter writer(facts);
  document.first = writer.next();
  const std::uint32_t root = writer.open(Key::none, NodeType::object, 0);
  state_list(Key::required_platforms, platforms, writer);
  state_list(Key::architectures, architectures, writer);
  writer.close(root, 0);
  document.end = writer.next();
  facts.documents.push_back(document);
}

}  // namespace opseal
