#include "tests/mutants/registry.h"

#include <algorithm>
#include <fstream>

namespace opseal::test {
namespace {

bool is_table(const Json& value) {
  return value.is_array() && !value.empty() && value.front().is_object();
}

}  // namespace

Registry::Registry(const std::filesystem::path& path) : name_(path.stem().string()) {
  std::ifstream file(path, std::ios::binary);
  manifest_ = Json::parse(file);
  head_ = Json::object();
  for (const auto& [key, value] : manifest_.items()) {
    if (!is_table(value)) {
      head_[key] = value;
      continue;
    }
    Table table{key, {}};
    for (const Json& item : value) table.items.push_back(item.dump());
    tables_.push_back(std::move(table));
  }
}

const Registry::Table* Registry::find(const std::string& table) const {
  const auto found = std::find_if(tables_.begin(), tables_.end(),
                                  [&table](const Table& each) { return each.key == table; });
  return found == tables_.end() ? nullptr : &*found;
}

std::size_t Registry::size(const std::string& table) const {
  if (table.empty()) return 1;
  const Table* found = find(table);
  return found == nullptr ? 0 : found->items.size();
}

Registry::Text Registry::with(const std::string& table, std::size_t item,
                              const std::vector<Json>& items) const {
  Text made;
  std::string& text = made.text;
  const std::string head = (table.empty() ? items.front() : head_).dump();
  text = head.substr(0, head.size() - 1);
  if (table.empty()) made.end = text.size();
  for (const Table& each : tables_) {
    text += ",\n" + Json(each.key).dump() + ": [";
    for (std::size_t at = 0; at < each.items.size(); ++at) {
      text += at == 0 ? "\n" : ",\n";
      if (each.key != table || at != item) {
        text += each.items[at];
        continue;
      }
      made.first = text.size();
      for (std::size_t part = 0; part < items.size(); ++part) {
        if (part > 0) text += ",\n";
        text += items[part].dump();
      }
      made.end = text.size();
    }
    text += "]";
  }
  text += "}\n";
  return made;
}

std::string Registry::text() const { return with("", 0, {head_}).text; }

}  // namespace opseal::test
