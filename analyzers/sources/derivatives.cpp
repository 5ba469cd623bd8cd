#include "analyzers/sources/derivatives.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "analyzers/sources/torch_python.h"

namespace opseal {
namespace {

// How many arguments `nondiff_argnums` takes out; nothing where that isn't written out.
std::optional<std::uint32_t> count_without_gradient(const PythonRegistration& said,
                                                    std::uint32_t inputs) {
  for (const PythonArgument& argument : said.arguments) {
    if (argument.name != "nondiff_argnums") continue;
    std::vector<PythonText> numbers = argument.items;
    if (!argument.list) numbers.push_back(argument.value);
    std::set<std::uint32_t> places;
    for (const PythonText& number : numbers) {
      std::uint32_t place = 0;
      const char* end = number.text.data() + number.text.size();
      const auto [last, error] = std::from_chars(number.text.data(), end, place);
      if (!number.decided() || error != std::errc() || last != end || place >= inputs) return {};
      places.insert(place);
    }
    return static_cast<std::uint32_t>(places.size());
  }
  return 0;
}

const PythonFunction* function_as(const PythonRegistration& said, std::string_view role) {
  for (const PythonFunction& function : said.functions) {
    if (function.role == role) return &function;
  }
  return nullptr;
}

}  // namespace

void read_derivatives(const std::vector<PythonRegistration>& registrations, std::uint32_t file,
                      std::vector<DerivativeRecord>& records) {
  for (const PythonRegistration& said : registrations) {
    if (said.kind != PythonKind::derivative_rules || said.open_ended || said.expanded) continue;
    const PythonFunction& of = said.of;
    if (!of.found || of.variadic) continue;
    const bool by_name = std::any_of(of.parameters.begin(), of.parameters.end(),
                                     [](const PythonParameter& one) { return one.keyword_only; });
    if (by_name) continue;
    const std::optional<std::uint32_t> without = count_without_gradient(said, of.positional);
    if (!without) continue;
    DerivativeRecord record;
    record.name = of.name.empty() ? said.object : of.name;
    record.place = {file, said.place.offset, said.place.length};
    record.function = source_function(of, file);
    record.inputs = of.positional - *without;
    const auto add_call = [&](const PythonFunction* function, std::string kind,
                              std::uint32_t passed) {
      if (function == nullptr || function->null || !function->found) return;
      record.calls.push_back({source_function(*function, file), std::move(kind), passed, {}});
    };
    if (said.how.ends_with("defvjp")) {
      const PythonFunction* backward = function_as(said, "bwd");
      add_call(function_as(said, "fwd"), "forward", of.positional);
      add_call(backward, "backward", *without + 2);
      if (backward == nullptr || !backward->found) continue;
      record.backward = backward->name;
      record.backward_place = source_function(*backward, file).place;
      for (const PythonReturn& given : said.returns) {
        record.returns.push_back(
            {{file, given.place.offset, given.place.length}, given.values, given.without_nones});
      }
    } else if (said.how.ends_with("defjvp")) {
      const PythonFunction* rule = function_as(said, "jvp");
      add_call(rule != nullptr ? rule : function_as(said, "decorated"), "jvp", *without + 2);
    }
    if (!record.calls.empty()) records.push_back(std::move(record));
  }
}

void write_derivatives(const std::vector<DerivativeRecord>& records,
                       const std::vector<std::string>& paths, PlacedWriter& writer) {
  std::map<std::string_view, std::size_t> named;
  for (const DerivativeRecord& record : records) ++named[record.name];
  const std::uint32_t list = writer.open_list(Key::operators);
  for (const DerivativeRecord& record : records) {
    const std::uint32_t object = writer.open(Key::none, NodeType::object, record.place);
    writer.text(Key::name, record.name, record.place);
    if (named[record.name] > 1) {
      writer.text(Key::identity,
                  paths[record.place.file] + " at " + std::to_string(record.place.offset),
                  record.place);
    }
    writer.count(Key::inputs, record.inputs, record.function.place);
    const std::uint32_t gradient = writer.open(Key::gradient, NodeType::object, record.place);
    const GradientCount* odd = nullptr;
    for (const GradientCount& one : record.returns) {
      if (odd == nullptr || (odd->values == record.inputs && one.values != record.inputs)) {
        odd = &one;
      }
    }
    if (odd != nullptr) writer.count(Key::returns, odd->values, odd->place);
    if (!record.backward.empty()) {
      const std::uint32_t function =
          writer.open(Key::function, NodeType::object, record.backward_place);
      writer.text(Key::name, record.backward, record.backward_place);
      writer.close(function);
    }
    writer.rule_calls(record.calls);
    writer.close(gradient);
    writer.close(object);
  }
  writer.close_list(list);
}

}  // namespace opseal
