#include "analyzers/sources/executorch.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/cpp_record.h"

namespace opseal {
namespace {

// `Kernel("ns::op.out", function)`, `Kernel{…}`
void read_lists(const SourceUnit& unit, std::vector<ExecutorchRecord>& records) {
  const Tokens all = unit.tokens;
  const bool registers = std::ranges::any_of(all, [](const Token& token) {
    return token.is("register_kernels") || token.is("register_kernel");
  });
  if (!registers) return;
  for (std::size_t at = 0; at + 3 < all.size(); ++at) {
    if (!all[at].is("Kernel") || (!all[at + 1].is('(') && !all[at + 1].is('{'))) continue;
    if (!all[at + 2].is_string() || !all[at + 3].is(',')) continue;
    const std::string written = string_value(all.subspan(at + 2, 1));
    const std::size_t colons = written.find("::");
    if (colons == 0 || colons == written.npos || colons + 2 == written.size()) continue;
    // Of a template for generated code.
    if (written.find_first_of("$ {") != written.npos) continue;
    const std::size_t close = closing_bracket(all, at + 1);
    if (close == all.size()) continue;
    ExecutorchRecord record;
    record.by_hand = true;
    record.name_space = written.substr(0, colons);
    record.name = {written.substr(colons + 2), place_of(all.subspan(at + 2, 1), unit.file)};
    record.when = unit.conditions[all[at].condition];
    record.place = place_of(all.subspan(at, 3), unit.file);
    Tokens function = all.subspan(at + 4, close - at - 4);
    if (!function.empty() && function.front().is('&')) function = function.subspan(1);
    const bool named =
        !function.empty() && function.size() <= 8 && function.front().is_identifier();
    if (named) record.function.name = text_of(function);
    record.function.place = record.place;
    records.push_back(std::move(record));
  }
}

}  // namespace

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
  read_lists(unit, records);
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
    // Builds take one of several files, and one of several branches; what a file registers of
    // itself comes with it, under a name that all share.
    const std::string when = record.when.text();
    const bool shared = record.by_hand && first->second->by_hand && first->second->when.always() &&
                        record.when.always();
    if (!is_new && !shared &&
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
