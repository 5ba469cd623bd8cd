#include "analyzers/sources/engines.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace opseal {
namespace {

// Fewer are no registry.
constexpr std::size_t fewest_keys = 2;

}  // namespace

bool settle_engine(Engine& engine, bool partial) {
  std::set<std::string> sorts;
  std::set<std::string_view> keys;
  // One function that is registered again under its key changes nothing.
  std::set<std::pair<std::string, std::string>> said;
  for (EngineEntry& entry : engine.entries) {
    sorts.insert(entry.sort);
    keys.insert(entry.key);
    if (!entry.logged || entry.function.empty()) continue;
    const bool is_new = said.emplace(entry.exact, entry.function).second;
    // Each `def _` is another function.
    if (!is_new && entry.function != "_") entry.logged = false;
  }
  if (keys.size() < fewest_keys) return false;
  // Keys of several sorts (an enumerator and a text) may be one thing.
  const bool comparable = engine.known && !partial && sorts.size() == 1;
  std::erase_if(engine.lookups, [&](const EngineLookup& lookup) {
    return !comparable || lookup.sort != *sorts.begin();
  });
  if (engine.on_duplicate != "replace" && engine.on_duplicate != "ignore") {
    for (EngineEntry& entry : engine.entries) entry.logged = false;
  }
  const bool logs = std::any_of(engine.entries.begin(), engine.entries.end(),
                                [](const EngineEntry& entry) { return entry.logged; });
  return logs || !engine.lookups.empty();
}

void write_engine(const Engine& engine, PlacedWriter& writer) {
  writer.text_if(Key::on_duplicate, engine.on_duplicate, engine.place);
  // Short, where that tells no two of them apart.
  std::map<std::string_view, std::set<std::string_view>> exact;
  for (const EngineEntry& entry : engine.entries) exact[entry.key].insert(entry.exact);
  const std::uint32_t log = writer.open_list(Key::registrations);
  for (const EngineEntry& entry : engine.entries) {
    if (!entry.logged) continue;
    const std::uint32_t row = writer.open(Key::none, NodeType::object, entry.place);
    writer.text(Key::name, exact[entry.key].size() > 1 ? entry.exact : entry.key, entry.place);
    writer.text_if(Key::when, entry.when.text(), entry.place);
    writer.text_if(Key::macro, entry.macro, entry.place);
    writer.close(row);
  }
  writer.close_list(log);
  const std::uint32_t dispatch = writer.open_list(Key::dispatch);
  const std::uint32_t record = writer.open(Key::none, NodeType::object, engine.place);
  writer.text(Key::operator_, engine.name, engine.place);
  const std::uint32_t table = writer.open(Key::table, NodeType::object, engine.place);
  writer.text(Key::name, engine.name, engine.place);
  const std::uint32_t entries = writer.open(Key::entries, NodeType::list, engine.place);
  std::set<std::string_view> written;
  for (const EngineEntry& entry : engine.entries) {
    if (!written.insert(entry.key).second) continue;
    const std::uint32_t row = writer.open(Key::none, NodeType::object, entry.place);
    writer.text(Key::kind, entry.key, entry.place);
    writer.text(Key::kernel, entry.function.empty() ? "a function" : entry.function, entry.place);
    writer.close(row);
  }
  writer.close(entries);
  if (engine.known) writer.null(Key::default_, engine.place);
  writer.close(table);
  if (!engine.lookups.empty()) {
    const std::uint32_t list = writer.open(Key::lookups, NodeType::list, engine.place);
    for (const EngineLookup& lookup : engine.lookups) {
      const std::uint32_t item = writer.open(Key::none, NodeType::object, lookup.place);
      writer.text(Key::operator_, engine.name, lookup.place);
      writer.text(Key::kind, lookup.key, lookup.place);
      writer.close(item);
    }
    writer.close(list);
  }
  writer.close(record);
  writer.close_list(dispatch);
}

}  // namespace opseal
