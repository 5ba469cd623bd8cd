#include <set>

#include "analyzers/sources/targets.h"

namespace opseal {
namespace {

void write_target(const TargetRecord& target, PlacedWriter& writer) {
  const std::uint32_t object = writer.open(Key::none, NodeType::object, target.place);
  writer.text(Key::name, target.name.text, target.name.place);
  writer.text_if(Key::platform, target.platform.text, target.platform.place);
  if (!target.function.name.empty()) writer.function(Key::function, target.function);
  if (target.api_version >= 0) {
    writer.count(Key::api_version, static_cast<std::uint32_t>(target.api_version), target.place);
  }
  writer.text_if(Key::handler_kind, target.handler_kind, target.place);
  if (!target.stages.empty()) writer.texts(Key::stages, target.stages, target.place);
  if (!target.traits.empty()) writer.texts(Key::traits, target.traits, target.place);
  writer.text_if(Key::when, target.when.text(), target.place);
  writer.text_if(Key::macro, target.macro, target.place);
  writer.close(object);
}

// The names that are asked for, if everything that could be registered is known.
std::vector<const TargetRecord*> answerable(const std::vector<TargetRecord>& records) {
  std::vector<const TargetRecord*> lookups;
  bool registers = false;
  for (const TargetRecord& record : records) {
    if (!record.lookup && record.name.text.empty()) return {};
    registers = registers || !record.lookup;
    if (record.lookup && !record.name.text.empty()) lookups.push_back(&record);
  }
  if (!registers) lookups.clear();
  return lookups;
}

}  // namespace

void write_targets(const std::vector<TargetRecord>& records, bool partial, PlacedWriter& writer) {
  const std::uint32_t targets = writer.open_list(Key::targets);
  for (const TargetRecord& record : records) {
    if (!record.lookup && !record.name.text.empty()) write_target(record, writer);
  }
  writer.close_list(targets);
  if (partial) return;
  const std::vector<const TargetRecord*> lookups = answerable(records);
  if (lookups.empty()) return;
  const std::uint32_t dispatch = writer.open_list(Key::dispatch);
  for (const TargetRecord* lookup : lookups) {
    const std::uint32_t row = writer.open(Key::none, NodeType::object, lookup->place);
    writer.text(Key::operator_, lookup->name.text, lookup->name.place);
    const std::uint32_t list = writer.open(Key::lookups, NodeType::list, lookup->place);
    const std::uint32_t item = writer.open(Key::none, NodeType::object, lookup->place);
    writer.text(Key::operator_, lookup->name.text, lookup->name.place);
    writer.close(item);
    writer.close(list);
    writer.close(row);
  }
  writer.close_list(dispatch);
}

}  // namespace opseal
