#include "analyzers/sources/executorch.h"

#include <map>
#include <utility>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/cpp_record.h"

namespace opseal {

void read_executorch_cpp(const SourceUnit& unit, const Invocations& found,
                         std::vector<ExecutorchRecord>& records) {
  for (const Invocation& invocation : found.list) {
    if (invocation.name != "EXECUTORCH_LIBRARY" || invocation.arguments.size() != 3) continue;
    const Tokens space = invocation.arguments[0];
    const Tokens name = invocation.arguments[1];
    auto record = record_at<ExecutorchRecord>(unit, invocation);
    bool only_strings = false;
    record.name = {string_value(name, &only_strings), place_of(name, unit.file)};
    if (!only_strings || record.name.text.empty()) continue;
    if (space.size() != 1 || !space.front().is_identifier()) continue;
    record.name_space = space.front().text;
    record.function.name = text_of(invocation.arguments[2]);
    record.function.place = place_of(invocation.arguments[2], unit.file);
    records.push_back(std::move(record));
  }
}

void write_executorch(const std::vector<ExecutorchRecord>& records,
                      const std::vector<std::string>& paths, PlacedWriter& writer) {
  std::map<std::pair<std::string_view, std::string_view>, const ExecutorchRecord*> first_of;
  const std::uint32_t operators = writer.open_list(Key::operators);
  for (const ExecutorchRecord& record : records) {
    const auto [first, is_new] =
        first_of.try_emplace({record.name_space, record.name.text}, &record);
    const std::uint32_t object = writer.open(Key::none, NodeType::object, record.place);
    writer.text(Key::name, record.name.text, record.name.place);
    writer.text(Key::namespace_, record.name_space, record.place);
    // Builds take one of several files, and one of several branches.
    const std::string when = record.when.text();
    if (!is_new &&
        (first->second->place.file != record.place.file || first->second->when.text() != when)) {
      writer.text(Key::identity, paths[record.place.file] + (when.empty() ? "" : " " + when),
                  record.place);
    }
    writer.text(Key::defined_in, "native", record.place);
    writer.text_if(Key::when, when, record.place);
    const std::uint32_t kernels = writer.open(Key::kernels, NodeType::list, record.place);
    const std::uint32_t kernel = writer.open(Key::none, NodeType::object, record.function.place);
    writer.function(Key::function, record.function);
    writer.text_if(Key::macro, record.macro, record.place);
    writer.close(kernel);
    writer.close(kernels);
    writer.close(object);
  }
  writer.close_list(operators);
}

}  // namespace opseal
