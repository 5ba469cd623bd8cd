#include <map>
#include <set>

#include "analyzers/sources/onnx.h"

namespace opseal {
namespace {

// The rows of the tables from which registries are built.
class Tables {
 public:
  explicit Tables(const std::vector<OnnxRecord>& records) {
    for (const OnnxRecord& record : records) {
      if (record.use == OnnxUse::declaration && record.decided) declared_.insert(record.key);
      if (record.use != OnnxUse::row) continue;
      if (!record.decided) {
        whole_ = false;
        continue;
      }
      rows_.emplace(record.key, &record);
      of_provider_.try_emplace(record.key.provider, &record);
    }
  }

  bool whole() const { return whole_; }
  const OnnxRecord* row(const OnnxKernelKey& key) const {
    const auto found = rows_.find(key);
    return found == rows_.end() ? nullptr : found->second;
  }
  const OnnxRecord* of_provider(std::string_view provider) const {
    const auto found = of_provider_.find(provider);
    return found == of_provider_.end() ? nullptr : found->second;
  }
  bool declares(const OnnxKernelKey& key) const { return declared_.contains(key); }

  // A row for the same operator and provider, of the same version where there is one: keys are
  // sorted by those first.
  const OnnxRecord* sibling(const OnnxKernelKey& key) const {
    const auto same = [&](const OnnxKernelKey& other) {
      return other.provider == key.provider && other.domain == key.domain && other.name == key.name;
    };
    const auto after = rows_.lower_bound(key);
    const OnnxRecord* found = nullptr;
    if (after != rows_.end() && same(after->first)) found = after->second;
    if (found != nullptr && found->key.since == key.since) return found;
    if (after == rows_.begin()) return found;
    const auto before = std::prev(after);
    return same(before->first) ? before->second : found;
  }

 private:
  std::map<OnnxKernelKey, const OnnxRecord*> rows_;
  // Some row of each.
  std::map<std::string_view, const OnnxRecord*> of_provider_;
  std::set<OnnxKernelKey> declared_;
  bool whole_ = true;
};

class OnnxWriter {
 public:
  OnnxWriter(const std::vector<OnnxRecord>& records, bool partial, PlacedWriter& writer)
      : records_(records), writer_(writer), tables_(records), whole_(!partial && tables_.whole()) {}

  void run() {
    std::map<std::pair<std::string, std::string>, std::vector<const OnnxRecord*>> operators;
    for (const OnnxRecord& record : records_) {
      if (record.use != OnnxUse::kernel || !record.decided) continue;
      operators[{record.key.domain, record.key.name}].push_back(&record);
    }
    const std::uint32_t list = writer_.open_list(Key::operators);
    for (const auto& [name, kernels] : operators) {
      const OnnxRecord& first = *kernels.front();
      const std::uint32_t object = writer_.open(Key::none, NodeType::object, first.place);
      writer_.text(Key::name, name.second, first.name_place);
      writer_.text_if(Key::namespace_, name.first, first.place);
      const std::uint32_t rows = writer_.open(Key::kernels, NodeType::list, first.place);
      for (const OnnxRecord* kernel : kernels) write_kernel(*kernel);
      writer_.close(rows);
      writer_.close(object);
    }
    writer_.close_list(list);
  }

 private:
  void write_kernel(const OnnxRecord& kernel) {
    const SourcePlace& place = kernel.place;
    const std::uint32_t object = writer_.open(Key::none, NodeType::object, place);
    writer_.text(Key::platform, kernel.key.provider, place);
    write_versions(kernel);
    if (kernel.says_constraints) {
      const std::uint32_t map = writer_.open(Key::type_constraints, NodeType::map, place);
      for (const auto& [variable, types] : kernel.constraints) {
        writer_.entry(variable, types, place);
      }
      writer_.close(map);
    }
    if (!kernel.function.text.empty()) {
      const SourcePlace& at = kernel.function.place;
      const std::uint32_t function = writer_.open(Key::function, NodeType::object, at);
      writer_.text(Key::name, kernel.function.text, at);
      writer_.close(function);
    }
    write_listed(kernel);
    writer_.text_if(Key::when, kernel.when.text(), place);
    writer_.text_if(Key::macro, kernel.macro, place);
    writer_.close(object);
  }

  // Custom operators may say none.
  void write_versions(const OnnxRecord& kernel) {
    if (kernel.key.since == 0) return;
    const SourcePlace& place = kernel.place;
    const std::uint32_t versions = writer_.open(Key::versions, NodeType::object, place);
    writer_.count(Key::since, kernel.key.since, place);
    if (kernel.key.until) {
      writer_.count(Key::until, *kernel.key.until, place);
    } else {
      writer_.null(Key::until, place);
    }
    writer_.close(versions);
  }

  // At the row, or at that of its nearest sibling, so that a report shows where a row is missing.
  void write_listed(const OnnxRecord& kernel) {
    // A custom operator stands in no such table.
    if (kernel.key.domain.empty()) return;
    if (const OnnxRecord* row = tables_.row(kernel.key)) {
      writer_.truth(Key::listed, true, row->place);
      return;
    }
    const OnnxRecord* sibling = whole_ ? tables_.sibling(kernel.key) : nullptr;
    // None of its operator: then the whole operator was forgotten.
    if (sibling == nullptr && whole_) sibling = tables_.of_provider(kernel.key.provider);
    if (sibling == nullptr) return;
    writer_.truth(Key::listed, false, sibling->place);
    if (tables_.declares(kernel.key)) writer_.texts(Key::witnesses, {"declared"}, kernel.place);
  }

  const std::vector<OnnxRecord>& records_;
  PlacedWriter& writer_;
  Tables tables_;
  bool whole_;
};

}  // namespace

void write_onnx(const std::vector<OnnxRecord>& records, bool partial, PlacedWriter& writer) {
  OnnxWriter(records, partial, writer).run();
}

}  // namespace opseal
