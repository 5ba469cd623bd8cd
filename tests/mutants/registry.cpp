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

bool Registry::Text::is_made(std::uint64_t offset) const {
  return std::any_of(made.begin(), made.end(), [offset](const Span& span) {
    return offset >= span.first && offset < span.end;
  });
}

// `more`: items behind its own, or nothing.
void Registry::write_table(const Table& table, const Replaced& replaced, const Json& more,
                           Text& out) {
  std::string& text = out.text;
  text += ",\n" + Json(table.key).dump() + ": [";
  const auto write_made = [&](const auto& items, std::size_t before) {
    const std::size_t first = text.size();
    for (const Json& item : items) {
      text += before++ == 0 ? "\n" : ",\n";
      text += item.dump();
    }
    out.made.push_back({first, text.size()});
  };
  for (std::size_t at = 0; at < table.items.size(); ++at) {
    if (table.key == replaced.table && at == replaced.item) {
      write_made(replaced.items, at);
      continue;
    }
    text += at == 0 ? "\n" : ",\n";
    text += table.items[at];
  }
  if (more.is_array()) write_made(more, table.items.size());
  text += "]";
}

Registry::Text Registry::with(const std::string& table, std::size_t item,
                              const std::vector<Json>& items, const Json& beside) const {
  Text made;
  Json head = table.empty() ? items.front() : head_;
  bool head_made = table.empty();
  for (const auto& [key, value] : beside.items()) {
    if (find(key) != nullptr) continue;
    head[key] = value;
    head_made = true;
  }
  const std::string head_text = head.dump();
  made.text = head_text.substr(0, head_text.size() - 1);
  if (head_made) made.made.push_back({0, made.text.size()});
  for (const Table& each : tables_) {
    write_table(each, {table, item, items}, at(beside, each.key.c_str()), made);
  }
  made.text += "}\n";
  return made;
}

std::string Registry::text() const { return with("", 0, {head_}).text; }

}  // namespace opseal::test
