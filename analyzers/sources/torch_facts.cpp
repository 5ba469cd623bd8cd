#include "analyzers/sources/torch_facts.h"

#include <algorithm>
#include <optional>

#include "opseal/schema_text.h"

namespace opseal {
namespace {

void write_condition(const TorchRecord& record, PlacedWriter& writer) {
  writer.text_if(Key::when, record.when.text(), record.place);
  writer.text_if(Key::macro, record.macro, record.place);
}

// Empty where the key is only known when the code runs, so that the list of kernels isn't whole.
void write_kernel(const TorchRecord& kernel, PlacedWriter& writer) {
  const std::uint32_t object = writer.open(Key::none, NodeType::object, kernel.place);
  writer.text_if(Key::platform, kernel.key, kernel.place);
  const SourceFunction& function = kernel.function;
  if (function.declared || !function.name.empty()) writer.function(Key::function, function);
  if (!kernel.python) writer.text_if(Key::native_signature, function.signature, function.place);
  if (function.typed) writer.text(Key::tier, "typed", kernel.place);
  write_dispatches(kernel.dispatches, kernel.place, writer);
  if (!kernel.writes.empty()) {
    const std::uint32_t writes = writer.open(Key::writes, NodeType::list, kernel.place);
    for (const PlacedName& written : kernel.writes) {
      writer.text(Key::none, written.text, written.place);
    }
    writer.close(writes);
  }
  if (!kernel.returned_views.empty()) {
    writer.texts(Key::aliases, kernel.returned_views, kernel.function.place);
  }
  if (!kernel.uses.empty()) writer.texts(Key::uses, kernel.uses, kernel.function.place);
  if (kernel.refuses_second) {
    writer.text(Key::holder, kernel.scope.empty() ? "<module>" : kernel.scope, kernel.place);
  }
  if (kernel.fallthrough) writer.truth(Key::fallthrough, true, kernel.place);
  write_condition(kernel, writer);
  writer.close(object);
}

const TorchRecord& first_record(const TorchOperator& op) {
  if (op.definition != nullptr) return *op.definition;
  if (!op.kernels.empty()) return *op.kernels.front();
  return op.fake != nullptr ? *op.fake : *op.gradient;
}

// An open namespace may be no word of torch's language, and is said apart.
std::string full_name(const TorchOperator& op) {
  return op.space.open ? op.name : op.space.text + "::" + op.name;
}

void write_definition(const TorchOperator& op, const TorchRecord& definition,
                      PlacedWriter& writer) {
  writer.text(Key::defined_in, definition.python ? "python" : "native", definition.place);
  if (!definition.schema.empty()) {
    const std::string prefix = op.space.open ? std::string() : op.space.text + "::";
    writer.text(Key::schema, prefix + definition.schema, definition.name.place);
  }
  if (definition.says_mutates_text) {
    writer.text(Key::mutates_args, definition.mutates_text, definition.place);
  } else if (definition.says_mutates) {
    writer.texts(Key::mutates_args, definition.mutates, definition.place);
  }
  if (op.one_condition) write_condition(definition, writer);
}

// Where several `return`s differ, the one that the schema does not explain: at most one count can
// be right, and that one is said.
const GradientCount* odd_count(const TorchRecord& gradient, std::uint32_t inputs) {
  const GradientCount* odd = nullptr;
  for (const GradientCount& one : gradient.returns) {
    if (odd == nullptr || (odd->values == inputs && one.values != inputs)) odd = &one;
  }
  return odd;
}

void write_gradient(const TorchOperator& op, const TorchRecord& gradient, PlacedWriter& writer) {
  const std::uint32_t object = writer.open(Key::gradient, NodeType::object, gradient.place);
  const std::optional<OperatorSchema> schema =
      op.definition == nullptr ? std::nullopt : read_torch_schema(op.definition->schema);
  std::uint32_t inputs = 0;
  bool by_name = false;
  if (schema) {
    for (const SchemaOperand& input : schema->inputs) {
      inputs += input.keyword_only ? 0 : 1;
      by_name = by_name || input.keyword_only;
    }
  }
  if (const GradientCount* count = odd_count(gradient, inputs); count != nullptr) {
    // Older releases of torch take nones that are too many off the end; newer ones count, and
    // raise.
    writer.count(Key::returns, count->values, count->place);
  }
  writer.function(Key::function, gradient.function);
  std::vector<RuleCall> calls = gradient.calls;
  for (RuleCall& call : calls) {
    // Handed over by these very names.
    call.names = {"ctx", "inputs", "output"};
    if (by_name) call.names.emplace_back("keyword_only_inputs");
  }
  if (schema) writer.rule_calls(calls);
  writer.close(object);
}

void write_operator(const TorchOperator& op, PlacedWriter& writer) {
  const TorchRecord& first = first_record(op);
  const std::uint32_t object = writer.open(Key::none, NodeType::object, first.place);
  writer.text(Key::name, full_name(op), first.name.place);
  writer.text(Key::namespace_, op.space.text, first.place);
  writer.text_if(Key::identity, op.identity, first.place);
  if (op.definition != nullptr && !op.space.open) {
    writer.text_if(Key::spelling, op.definition->unexpanded, op.definition->place);
  }
  if (op.definition != nullptr) {
    write_definition(op, *op.definition, writer);
  } else if (op.no_definition) {
    writer.null(Key::schema, first.name.place);
  }
  if (op.fake != nullptr) {
    writer.function(Key::abstract, op.fake->function);
  } else if (op.no_fake) {
    writer.null(Key::abstract, first.name.place);
  }
  if (op.gradient != nullptr) {
    write_gradient(op, *op.gradient, writer);
  }
  if (!op.kernels.empty() || op.no_kernel) {
    const std::uint32_t kernels = writer.open(Key::kernels, NodeType::list, first.place);
    for (const TorchRecord* kernel : op.kernels) write_kernel(*kernel, writer);
    writer.close(kernels);
  }
  writer.close(object);
}

void write_lookups(const std::vector<const TorchRecord*>& lookups, PlacedWriter& writer) {
  if (lookups.empty()) return;
  const std::uint32_t dispatch = writer.open_list(Key::dispatch);
  for (const TorchRecord* lookup : lookups) {
    const std::string name = lookup->space.text + "::" + lookup->name.text;
    const std::uint32_t row = writer.open(Key::none, NodeType::object, lookup->place);
    writer.text(Key::operator_, name, lookup->place);
    const std::uint32_t list = writer.open(Key::lookups, NodeType::list, lookup->place);
    const std::uint32_t item = writer.open(Key::none, NodeType::object, lookup->place);
    writer.text(Key::operator_, name, lookup->name.place);
    if (lookup->at_import) writer.truth(Key::always, true, lookup->place);
    if (!lookup->function.parameters.empty()) {
      writer.texts(Key::names, lookup->function.parameters, lookup->place);
    }
    writer.close(item);
    writer.close(list);
    writer.close(row);
  }
  writer.close_list(dispatch);
}

}  // namespace

void write_torch(const TorchTable& table, PlacedWriter& writer) {
  if (!table.fallbacks.empty()) {
    const std::uint32_t list = writer.open_list(Key::backend_fallbacks);
    for (const TorchRecord* record : table.fallbacks) {
      writer.text(Key::none, record->key, record->place);
    }
    writer.close_list(list);
  }
  const std::uint32_t operators = writer.open_list(Key::operators);
  for (const TorchOperator& op : table.operators) write_operator(op, writer);
  writer.close_list(operators);
  write_lookups(table.lookups, writer);
}

void write_dispatches(const std::vector<DispatchSite>& sites, const SourcePlace& place,
                      PlacedWriter& writer) {
  if (sites.empty()) return;
  const std::uint32_t list = writer.open(Key::dispatches, NodeType::list, place);
  for (const DispatchSite& site : sites) {
    const std::uint32_t item = writer.open(Key::none, NodeType::object, site.place);
    writer.text_if(Key::expression, site.expression, site.place);
    if (site.known) writer.texts(Key::dtypes, site.dtypes, site.place);
    if (site.typed) writer.text(Key::tier, "typed", site.place);
    writer.text_if(Key::macro, site.macro, site.place);
    if (site.kind == DispatchKind::check) writer.truth(Key::checked, true, site.place);
    if (site.kind == DispatchKind::test) writer.truth(Key::tested, true, site.place);
    writer.close(item);
  }
  writer.close(list);
}

}  // namespace opseal
