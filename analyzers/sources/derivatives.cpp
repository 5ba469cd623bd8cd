#include "analyzers/sources/derivatives.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "analyzers/sources/torch_python.h"

namespace opseal {
namespace {

// The arguments that `nondiff_argnums` takes out; nothing where that isn't written out.
std::optional<std::set<std::uint32_t>> without_gradient(const PythonRegistration& said,
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
    return places;
  }
  return std::set<std::uint32_t>();
}

SourcePlace place_in(const PythonPlace& place, std::uint32_t file) {
  return {file, place.offset, place.length};
}

// Forwards and rules of JVP hand back a pair.
void set_returns(const std::vector<PythonReturn>& returns, std::uint32_t file, RuleCall& call) {
  for (const PythonReturn& given : returns) {
    if (call.returns && given.values == 2) continue;
    call.returns = given.values;
    call.returns_place = place_in(given.place, file);
    if (given.values != 2) return;
  }
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
    const std::optional<std::set<std::uint32_t>> places = without_gradient(said, of.positional);
    if (!places) continue;
    const auto without = static_cast<std::uint32_t>(places->size());
    DerivativeRecord record;
    record.name = of.name.empty() ? said.object : of.name;
    record.place = {file, said.place.offset, said.place.length};
    record.function = source_function(of, file);
    record.inputs = of.positional - without;
    // Those without a gradient come first in rules, and stay in their places in the forward.
    std::vector<std::string> all;
    std::vector<std::string> in_front;
    for (const PythonParameter& one : of.parameters) {
      if (places->contains(static_cast<std::uint32_t>(all.size()))) in_front.push_back(one.name);
      all.push_back(one.name);
    }
    in_front.resize(in_front.size() + 2);
    const auto add_call = [&](const PythonFunction* function, std::string kind,
                              const std::vector<std::string>& called,
                              const std::vector<PythonReturn>& returns) {
      if (function == nullptr || function->null || !function->found) return;
      RuleCall& call = record.calls.emplace_back();
      call.function = source_function(*function, file);
      call.positional = static_cast<std::uint32_t>(called.size());
      // `partial` may have given some of them.
      if (function->parameters.size() == called.size()) call.called = called;
      if (kind != "backward") set_returns(returns, file, call);
      call.kind = std::move(kind);
    };
    if (said.how.ends_with("defvjp")) {
      const PythonFunction* backward = function_as(said, "bwd");
      add_call(function_as(said, "fwd"), "forward", all, said.forward_returns);
      add_call(backward, "backward", in_front, {});
      if (backward == nullptr || !backward->found) continue;
      record.saved = saved_counts(said.saved, file);
      record.backward = backward->name;
      record.backward_place = source_function(*backward, file).place;
      for (const PythonReturn& given : said.returns) {
        record.returns.push_back(
            {place_in(given.place, file), given.values, given.without_nones, given.bare});
      }
    } else if (said.how.ends_with("defjvp")) {
      const PythonFunction* rule = function_as(said, "jvp");
      add_call(rule != nullptr ? rule : function_as(said, "decorated"), "jvp", in_front,
               said.returns);
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
      const bool fits = odd != nullptr && odd->values == record.inputs && !odd->bare;
      if (odd == nullptr || (fits && (one.values != record.inputs || one.bare))) odd = &one;
    }
    if (odd != nullptr) {
      writer.count(Key::returns, odd->values, odd->place);
      if (odd->bare) writer.text(Key::form, "value", odd->place);
    }
    if (!record.backward.empty()) {
      const std::uint32_t function =
          writer.open(Key::function, NodeType::object, record.backward_place);
      writer.text(Key::name, record.backward, record.backward_place);
      writer.close(function);
    }
    write_saved(record.saved, writer);
    writer.rule_calls(record.calls);
    writer.close(gradient);
    writer.close(object);
  }
  writer.close_list(list);
}

}  // namespace opseal
