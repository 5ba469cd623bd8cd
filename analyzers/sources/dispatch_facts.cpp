#include "analyzers/sources/dispatch_pairs.h"

namespace opseal {
namespace {

void write_kinds(Key key, const std::vector<KindName>& kinds, const SourcePlace& place,
                 PlacedWriter& writer) {
  const std::uint32_t list = writer.open(key, NodeType::list, place);
  for (const KindName& kind : kinds) writer.text(Key::none, kind.name, kind.place);
  writer.close(list);
}

void write_conditions(const DispatchPair& pair, PlacedWriter& writer) {
  if (pair.conditions.empty()) return;
  const SourcePlace& place = pair.predicate.place;
  const std::uint32_t map = writer.open(Key::conditions, NodeType::map, place);
  for (const auto& [kind, conditions] : pair.conditions) {
    writer.text(Key::entry_name, kind, place);
    write_kinds(Key::entry_value, conditions, place, writer);
  }
  writer.close(map);
}

void write_tested(const std::vector<AcceptedLabels>& tested, const SourcePlace& place,
                  PlacedWriter& writer) {
  if (tested.empty()) return;
  const std::uint32_t list = writer.open(Key::tested, NodeType::list, place);
  for (const AcceptedLabels& labels : tested) {
    const std::uint32_t item = writer.open(Key::none, NodeType::object, labels.place);
    writer.text(Key::expression, labels.expression, labels.place);
    const std::uint32_t entries = writer.open(Key::entries, NodeType::list, labels.place);
    for (const AcceptedLabel& label : labels.labels) {
      const std::uint32_t entry = writer.open(Key::none, NodeType::object, label.place);
      writer.text(Key::kind, label.name, label.place);
      writer.count(Key::mentioned, label.mentions, label.place);
      writer.close(entry);
    }
    writer.close(entries);
    writer.close(item);
  }
  writer.close(list);
}

void write_predicate(const DispatchPair& pair, PlacedWriter& writer) {
  const SourcePlace& place = pair.predicate.place;
  const std::uint32_t object = writer.open(Key::predicate, NodeType::object, place);
  writer.text(Key::name, pair.predicate.name, place);
  write_kinds(Key::kinds, pair.accepted, place, writer);
  write_kinds(Key::always, pair.always, place, writer);
  if (pair.says_refused) write_kinds(Key::refused, pair.refused, place, writer);
  writer.truth(Key::otherwise, pair.accepts_the_rest, place);
  write_conditions(pair, writer);
  write_tested(pair.tested, place, writer);
  writer.close(object);
}

void write_table(const DispatchPair& pair, PlacedWriter& writer) {
  const SourcePlace& place = pair.table.place;
  const std::uint32_t object = writer.open(Key::table, NodeType::object, place);
  writer.text(Key::name, pair.table.name, place);
  const std::uint32_t list = writer.open(Key::entries, NodeType::list, place);
  for (const DispatchEntry& entry : pair.entries) {
    const std::uint32_t item = writer.open(Key::none, NodeType::object, entry.kind.place);
    writer.text(Key::kind, entry.kind.name, entry.kind.place);
    writer.text(Key::kernel, entry.kernel, entry.kind.place);
    if (!entry.asserts.empty()) {
      write_kinds(Key::asserts, entry.asserts, entry.kind.place, writer);
    }
    writer.close(item);
  }
  writer.close(list);
  if (pair.otherwise.empty()) {
    writer.null(Key::default_, place);
  } else {
    writer.text(Key::default_, pair.otherwise, place);
  }
  writer.close(object);
}

}  // namespace

bool tell_the_same(const DispatchPair& left, const DispatchPair& right) {
  const auto is_same = [](const KindName& one, const KindName& other) {
    return one.name == other.name && one.place.file == other.place.file;
  };
  const auto are_same = [&](const std::vector<KindName>& ones,
                            const std::vector<KindName>& others) {
    return std::equal(ones.begin(), ones.end(), others.begin(), others.end(), is_same);
  };
  const auto serve_same = [&](const DispatchEntry& one, const DispatchEntry& other) {
    return is_same(one.kind, other.kind) && one.kernel == other.kernel;
  };
  const auto test_same = [](const AcceptedLabels& one, const AcceptedLabels& other) {
    return std::equal(one.labels.begin(), one.labels.end(), other.labels.begin(),
                      other.labels.end(), [](const AcceptedLabel& a, const AcceptedLabel& b) {
                        return a.name == b.name && a.mentions == b.mentions;
                      });
  };
  return is_same(left.predicate, right.predicate) && is_same(left.table, right.table) &&
         left.accepts_the_rest == right.accepts_the_rest &&
         are_same(left.accepted, right.accepted) && are_same(left.refused, right.refused) &&
         std::equal(left.entries.begin(), left.entries.end(), right.entries.begin(),
                    right.entries.end(), serve_same) &&
         std::equal(left.tested.begin(), left.tested.end(), right.tested.begin(),
                    right.tested.end(), test_same);
}

void write_dispatch_pairs(const std::vector<DispatchPair>& pairs, PlacedWriter& writer) {
  for (const DispatchPair& pair : pairs) {
    const SourcePlace& place = pair.predicate.place;
    const std::uint32_t row = writer.open(Key::none, NodeType::object, place);
    writer.text(Key::operator_, pair.enumeration, place);
    writer.text_if(Key::backend, pair.backend, place);
    if (pair.typed) writer.text(Key::tier, "typed", place);
    write_predicate(pair, writer);
    write_table(pair, writer);
    const std::uint32_t list = writer.open(Key::exceptions, NodeType::list, place);
    for (const auto& [kind, reason] : pair.exceptions) {
      const std::uint32_t item = writer.open(Key::none, NodeType::object, kind.place);
      writer.text(Key::kind, kind.name, kind.place);
      writer.text(Key::reason, reason, kind.place);
      writer.close(item);
    }
    writer.close(list);
    write_kinds(Key::kinds, pair.kinds, place, writer);
    writer.close(row);
  }
}

}  // namespace opseal
