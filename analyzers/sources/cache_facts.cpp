#include "analyzers/sources/cache_facts.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "analyzers/sources/placed_writer.h"

namespace opseal {
namespace {

class CacheWriter {
 public:
  CacheWriter(const CacheRecord& record, PlacedWriter& writer)
      : cache_(record.cache),
        record_(record),
        place_(place_at(record.cache.place)),
        writer_(writer) {}

  void write() {
    const std::uint32_t item = writer_.open(Key::none, NodeType::object, place_);
    writer_.text(Key::name, cache_.name, place_);
    writer_.text(Key::kind, cache_.kind, place_);
    writer_.text_if(Key::backs, cache_.backs, place_);
    writer_.text_if(Key::hash, cache_.hash, place_at(cache_.hash_place));
    if (cache_.unseparated) {
      writer_.truth(Key::separated, false, place_at(*cache_.unseparated));
    }
    if (cache_.separated) {
      writer_.truth(Key::separated, true, place_at(*cache_.separated));
    }
    if (cache_.by_time) {
      const SourcePlace place = place_at(*cache_.by_time);
      writer_.texts(Key::freshness, {"mtime"}, place);
    }
    if (cache_.by_presence) {
      writer_.texts(Key::freshness, {"none"}, place_at(*cache_.by_presence));
    }
    if (!cache_.required.empty()) writer_.texts(Key::required_inputs, cache_.required, place_);
    if (cache_.parts_known) {
      write_names(Key::parameters, cache_.parts);
      write_parts(Key::key_parts, cache_.parts, true);
    }
    if (!cache_.arguments.empty()) writer_.texts(Key::arguments, cache_.arguments, place_);
    if (!cache_.handed.empty()) write_names(Key::uses, cache_.handed);
    if (cache_.tried) {
      writer_.count(Key::tested, *cache_.tried, place_at(cache_.tried_place));
      write_names(Key::in_place, cache_.changed);
    }
    if (cache_.inputs_known) write_inputs();
    if (cache_.reads_known) write_parts(Key::reads, cache_.reads, false);
    writer_.close(item);
  }

 private:
  SourcePlace place_at(const PythonPlace& place) const {
    if (record_.tail == 0 || place.offset < record_.tail) {
      return {record_.file, place.offset, place.length};
    }
    return {record_.tail_file, place.offset - record_.tail, place.length};
  }

  void write_names(Key key, const std::vector<PythonKeyPart>& parts) {
    const std::uint32_t list = writer_.open(key, NodeType::list, place_);
    for (const PythonKeyPart& part : parts) {
      writer_.text(Key::none, part.name, place_at(part.place));
    }
    writer_.close(list);
  }

  void write_parts(Key key, const std::vector<PythonKeyPart>& parts, bool with_form) {
    const std::uint32_t list = writer_.open(key, NodeType::list, place_);
    for (const PythonKeyPart& part : parts) {
      const SourcePlace place = place_at(part.place);
      const std::uint32_t item = writer_.open(Key::none, NodeType::object, place);
      writer_.text(Key::name, part.name, place);
      writer_.text_if(Key::input, part.input, place);
      if (with_form || part.form == "major") writer_.text(Key::form, part.form, place);
      writer_.close(item);
    }
    writer_.close(list);
  }

  void write_inputs() {
    std::vector<std::string_view> written;
    const std::uint32_t list = writer_.open(Key::inputs, NodeType::list, place_);
    for (const PythonKeyPart& part : cache_.parts) {
      if (std::find(written.begin(), written.end(), part.input) != written.end()) continue;
      written.push_back(part.input);
      writer_.text(Key::none, part.input, place_at(part.place));
    }
    writer_.close(list);
  }

  const PythonCache& cache_;
  const CacheRecord& record_;
  SourcePlace place_;
  PlacedWriter& writer_;
};

}  // namespace

void write_caches(const std::vector<CacheRecord>& records, PlacedWriter& writer) {
  for (const CacheRecord& record : records) CacheWriter(record, writer).write();
}

}  // namespace opseal
