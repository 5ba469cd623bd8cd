#include "analyzers/sources/alternatives_python.h"

namespace opseal {
namespace {

void write_entry(const PythonAlternative& one, std::uint32_t file, PlacedWriter& writer) {
  const SourcePlace place{file, one.place.offset, one.place.length};
  const std::uint32_t entry = writer.open(Key::none, NodeType::object, place);
  writer.text(Key::kind, one.name, place);
  writer.text(Key::kernel, one.name, place);
  writer.texts(Key::uses, one.uses, place);
  writer.close(entry);
}

}  // namespace

void write_alternatives(const std::vector<AlternativesRecord>& records, PlacedWriter& writer) {
  for (const AlternativesRecord& record : records) {
    const SourcePlace place{record.file, record.of.place.offset, record.of.place.length};
    const std::uint32_t row = writer.open(Key::none, NodeType::object, place);
    writer.text(Key::operator_, record.of.function, place);
    const std::uint32_t table = writer.open(Key::table, NodeType::object, place);
    writer.text(Key::name, record.of.function, place);
    const std::uint32_t entries = writer.open(Key::entries, NodeType::list, place);
    write_entry(record.of.fast, record.file, writer);
    write_entry(record.of.slow, record.file, writer);
    writer.close(entries);
    writer.close(table);
    writer.close(row);
  }
}

}  // namespace opseal
