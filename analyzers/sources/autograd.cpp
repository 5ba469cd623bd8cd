#include "analyzers/sources/autograd.h"

#include <algorithm>
#include <map>
#include <set>

#include "analyzers/sources/saved_counts.h"
#include "analyzers/sources/torch_python.h"

namespace opseal {
namespace {

// Counts of one function that are told apart.
constexpr std::size_t most_counts = 8;

SourcePlace place_in(const PythonPlace& place, std::uint32_t file) {
  return {file, place.offset, place.length};
}

// The export hands on what the call of the forward gave, where defaults may be left out.
std::vector<RuleCall> calls_of(const AutogradClass& one) {
  std::vector<RuleCall> calls;
  // With the context and a gradient for each result.
  if (one.facts.results > 0) {
    RuleCall& backward = calls.emplace_back();
    backward.function = one.facts.backward;
    backward.kind = "backward";
    backward.positional = one.facts.results + 1;
  }
  if (!one.symbolic.declared) return calls;
  RuleCall& call = calls.emplace_back();
  call.function = one.symbolic;
  call.kind = "symbolic";
  const std::uint32_t least = one.forward.required + 1;
  // `forward(ctx, x, *rest)` takes what the symbolic function asks for.
  call.positional = one.forward.variadic
                        ? std::max(one.symbolic.required, least)
                        : std::clamp(one.symbolic.required, least, one.forward.positional + 1);
  return calls;
}

AutogradFacts facts_of(const PythonAutograd& from, std::uint32_t file) {
  AutogradFacts facts;
  for (const auto& one : from.facts.writes) {
    facts.writes.push_back({one.name, place_in(one.place, file)});
  }
  for (const auto& one : from.facts.asked) {
    facts.asked.push_back({one.name, place_in(one.place, file)});
  }
  facts.made = from.facts.made;
  facts.marked = from.facts.marked;
  facts.results = from.facts.results;
  facts.backward = source_function(from.backward, file);
  facts.saved = saved_counts(from.saved, file);
  return facts;
}

}  // namespace

std::vector<AutogradClass> autograd_classes(const std::vector<PythonAutograd>& classes,
                                            std::uint32_t file) {
  std::vector<AutogradClass> found;
  for (const PythonAutograd& from : classes) {
    AutogradClass one;
    one.name = from.name;
    one.place = place_in(from.place, file);
    one.forward = source_function(from.forward, file);
    if (from.symbolic.found) one.symbolic = source_function(from.symbolic, file);
    one.backward = from.backward.name;
    one.backward_place = place_in(from.backward.definition, file);
    for (const PythonReturn& given : from.returns) {
      one.returns.push_back({place_in(given.place, file), given.values, given.without_nones});
    }
    one.batching = from.batching;
    one.batching_place = place_in(from.batching_place, file);
    one.separated = from.separated;
    one.guards = from.guards;
    one.facts = facts_of(from, file);
    found.push_back(std::move(one));
  }
  return found;
}

namespace {

// What is said once of a class, whatever its counts.
AutogradRecord record_of(const AutogradClass& one, std::string_view path) {
  AutogradRecord record;
  record.name = one.name;
  record.identity = path;
  record.place = one.place;
  record.forward = one.forward;
  record.backward = one.backward;
  record.backward_place = one.backward_place;
  record.returns_place = one.backward_place;
  record.batching = one.batching;
  record.batching_place = one.batching_place;
  record.separated = one.separated;
  record.guards = one.guards;
  record.facts = one.facts;
  return record;
}

void write_guards(const AutogradRecord& record, PlacedWriter& writer) {
  if (record.guards.empty()) return;
  const std::uint32_t list = writer.open(Key::requires_, NodeType::list, record.backward_place);
  for (const PythonGradientGuard& guard : record.guards) {
    const SourcePlace place{record.backward_place.file, guard.offset, guard.length};
    const std::uint32_t item = writer.open(Key::none, NodeType::object, place);
    writer.count(Key::input, guard.input, place);
    if (guard.output) writer.count(Key::value, *guard.output, place);
    if (guard.open_ended) writer.truth(Key::variadic, true, place);
    writer.close(item);
  }
  writer.close(list);
}

// The tensors that the forward writes to, and those of them that it says so of.
void write_writes(const AutogradRecord& record, PlacedWriter& writer) {
  const AutogradFacts& facts = record.facts;
  if (facts.writes.empty() || !facts.marked) return;
  const std::uint32_t writes = writer.open(Key::writes, NodeType::list, record.forward.place);
  for (const auto& one : facts.writes) writer.text(Key::none, one.name, one.place);
  writer.close(writes);
  writer.texts(Key::mutates_args, *facts.marked, record.forward.place);
}

// What the backward asks.
void write_backward(const AutogradRecord& record, PlacedWriter& writer) {
  const AutogradFacts& facts = record.facts;
  if (!facts.asked.empty()) {
    const std::uint32_t asked = writer.open(Key::gate_reads, NodeType::list, record.backward_place);
    for (const auto& one : facts.asked) writer.text(Key::none, one.name, one.place);
    writer.close(asked);
    writer.texts(Key::local, facts.made, record.backward_place);
  }
}

}  // namespace

void add_autograd(const std::vector<AutogradClass>& classes, std::string_view path,
                  std::vector<AutogradRecord>& records) {
  std::set<std::string_view> seen;
  for (const AutogradClass& one : classes) {
    // Of two with one name, which is meant where it is used isn't known, and one is enough.
    if (!seen.insert(one.name).second) continue;
    const bool says_more = !one.batching.empty() || !one.guards.empty() || !one.facts.empty();
    std::set<std::uint32_t> counts;
    if (one.forward.variadic || one.returns.empty()) {
      if (!says_more && !one.symbolic.declared) continue;
      records.push_back(record_of(one, path));
      records.back().calls = calls_of(one);
      continue;
    }
    for (const GradientCount& given : one.returns) {
      // Torch takes nones that are too many off the end.
      const std::uint32_t most = std::max(one.forward.positional, given.without_nones);
      const std::uint32_t number = std::min(given.values, most);
      if (counts.size() == most_counts || !counts.insert(number).second) continue;
      AutogradRecord record = record_of(one, path);
      if (counts.size() > 1) {
        record.identity += " where it returns " + std::to_string(number);
        // Said with the first count.
        record.batching.clear();
        record.guards.clear();
        record.facts = {};
      }
      record.returns = number;
      record.returns_place = given.place;
      if (counts.size() == 1) record.calls = calls_of(one);
      records.push_back(std::move(record));
    }
  }
}

void write_autograd(const std::vector<AutogradRecord>& records, PlacedWriter& writer) {
  std::map<std::string_view, std::size_t> named;
  for (const AutogradRecord& record : records) ++named[record.name];
  const std::uint32_t list = writer.open_list(Key::operators);
  for (const AutogradRecord& record : records) {
    const SourceFunction& forward = record.forward;
    const std::uint32_t object = writer.open(Key::none, NodeType::object, record.place);
    writer.text(Key::name, record.name, record.place);
    if (named[record.name] > 1) writer.text(Key::identity, record.identity, record.place);
    writer.texts(Key::tags, {"autograd-function"}, record.place);
    if (!forward.variadic) {
      const std::uint32_t inputs = writer.open(Key::inputs, NodeType::object, forward.place);
      writer.count(Key::min, forward.required, forward.place);
      writer.count(Key::max, forward.positional, forward.place);
      writer.close(inputs);
    }
    if (!record.batching.empty()) {
      const std::uint32_t batching =
          writer.open(Key::batching, NodeType::object, record.batching_place);
      writer.text(Key::kind, "custom", record.batching_place);
      writer.close(batching);
      writer.truth(Key::separated, record.separated, record.place);
    }
    write_writes(record, writer);
    const std::uint32_t gradient =
        writer.open(Key::gradient, NodeType::object, record.returns_place);
    if (record.returns) writer.count(Key::returns, *record.returns, record.returns_place);
    if (!record.backward.empty()) {
      const std::uint32_t function =
          writer.open(Key::function, NodeType::object, record.backward_place);
      writer.text(Key::name, record.backward, record.backward_place);
      writer.close(function);
    }
    write_guards(record, writer);
    write_backward(record, writer);
    write_saved(record.facts.saved, writer);
    writer.rule_calls(record.calls);
    writer.close(gradient);
    writer.close(object);
  }
  writer.close_list(list);
}

}  // namespace opseal
