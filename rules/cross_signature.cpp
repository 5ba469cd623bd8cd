#include "rules/cross_signature.h"

#include <algorithm>
#include <optional>

#include "opseal/arg_spec.h"
#include "opseal/schema_text.h"
#include "rules/cross_name.h"
#include "rules/operand_dtypes.h"

namespace opseal {
namespace {

constexpr std::string_view scalar_types[] = {
    "Device",  "Generator", "Layout", "MemoryFormat", "None",    "Scalar", "ScalarType", "Stream",
    "SymBool", "SymInt",    "bool",   "double",       "dtype",   "float",  "int",        "device",
    "string",  "str",       "int32",  "int64",        "float32", "float64"};

bool lists_scalars(const Fact& manifest) {
  const Fact system = manifest[Key::system];
  return system.is("torch") || system.is("executorch") || system.is("tvm-ffi");
}

// `int[2]?` and the like, in systems whose operand lists may hold such.
bool is_scalar(const Fact& manifest, std::string_view type) {
  if (!lists_scalars(manifest)) return false;
  type = type.substr(0, type.find_first_of("[?"));
  return std::find(std::begin(scalar_types), std::end(scalar_types), type) !=
         std::end(scalar_types);
}

CrossSignature::Named named(std::string_view name, bool mutated) {
  return {name, fold_word(name), mutated};
}

void count(CountRange& range, bool optional, bool variadic) {
  if (!optional && !variadic) ++range.min;
  if (variadic) range.max = CountRange::unbounded;
  if (range.max != CountRange::unbounded) ++range.max;
}

// A list of tensors counts as any number of them: XLA is handed each by itself.
bool is_open(const Fact& operand) {
  return operand[Key::variadic].truth() ||
         operand[Key::type].text().find('[') != std::string_view::npos;
}

bool is_written(const Fact& operand) {
  return operand[Key::mutated].truth() ||
         operand[Key::alias].text().find('!') != std::string_view::npos;
}

void read_input_list(const Fact& manifest, const Fact& list, CrossSignature& out) {
  if (!all_read(list) || list.size() > most_operands) return;
  out.inputs_at = list;
  out.says_mutation = true;
  for (const Fact operand : list.items()) {
    const std::string_view name = operand[Key::name].text();
    if (is_scalar(manifest, operand[Key::type].text())) {
      out.attributes.push_back(named(name, false));
      continue;
    }
    count(out.inputs, operand[Key::optional].truth(), is_open(operand));
    const bool written = is_written(operand);
    out.says_mutation = out.says_mutation && (written || operand[Key::mutated].is_truth() ||
                                              operand[Key::alias].is_text());
    if (written) ++out.mutated;
    out.operands.push_back(named(name, written));
  }
}

void read_output_list(const Fact& manifest, const Fact& list, CrossSignature& out) {
  if (!all_read(list) || list.size() > most_operands) return;
  out.outputs_at = list;
  for (const Fact operand : list.items()) {
    if (is_scalar(manifest, operand[Key::type].text()) || is_written(operand)) continue;
    count(out.outputs, operand[Key::optional].truth(), is_open(operand));
  }
}

void read_attributes(const Fact& list, CrossSignature& out) {
  if (!all_read(list) || list.size() > most_operands) return;
  out.attributes_at = list;
  for (const Fact attribute : list.items())
    out.attributes.push_back(named(attribute[Key::name].text(), false));
}

// Counts of what the system itself calls an argument: in tvm-ffi that is every parameter.
bool counts_tensors(const Fact& manifest) { return !manifest[Key::system].is("tvm-ffi"); }

void read_count(const Fact& manifest, const Fact& operands, Fact& at, CountRange& range) {
  const Stated<CountRange> counted = operand_count(operands);
  if (!counted || operands.is_list() || !counts_tensors(manifest)) return;
  at = operands;
  range = *counted;
}

// What the lists leave unsaid.
void read_schema_text(const Fact& text, CrossSignature& out) {
  const std::optional<OperatorSchema> schema = read_schema(text);
  if (!schema || schema->inputs.size() > most_operands || schema->outputs.size() > most_operands)
    return;
  if (!out.inputs_at.said() && !schema->more_inputs) {
    out.inputs_at = text;
    out.says_mutation = schema->says_mutation;
    const bool listed = out.attributes_at.said();
    if (!listed) out.attributes_at = text;
    for (const SchemaOperand& operand : schema->inputs) {
      if (!operand.is_tensor()) {
        if (!listed) out.attributes.push_back(named(operand.name, false));
        continue;
      }
      count(out.inputs, operand.optional, operand.lists > 0);
      if (operand.mutated()) ++out.mutated;
      out.operands.push_back(named(operand.name, operand.mutated()));
    }
  }
  if (!out.outputs_at.said() && !schema->more_outputs) {
    out.outputs_at = text;
    for (const SchemaOperand& operand : schema->outputs) {
      if (operand.is_tensor() && !operand.mutated())
        count(out.outputs, operand.optional, operand.lists > 0);
    }
  }
}

void read_spec(const Fact& spec, CrossSignature& out) {
  if (!all_read(spec) || spec.size() == 0 || spec.size() > most_operands) return;
  bool good = true;
  for_each_spec_token(spec, [&](const Fact& word, const SpecToken& token) {
    good = good && word.is_text() && token.kind != SpecKind::bad && !token.rest && !token.optional;
    if (token.kind == SpecKind::argument) count(out.inputs, false, false);
    if (token.kind == SpecKind::result) count(out.outputs, false, false);
    if (token.kind == SpecKind::attribute) out.attributes.push_back(named(token.name, false));
  });
  if (!good) {
    out = {};
    return;
  }
  out.inputs_at = out.outputs_at = out.attributes_at = spec;
}

bool comes_before(const CrossSignature::Named& a, const CrossSignature::Named& b) {
  return a.folded < b.folded;
}

const CrossSignature::Named* find_name(const std::vector<CrossSignature::Named>& names,
                                       const std::string& folded) {
  const auto found = std::lower_bound(names.begin(), names.end(), folded,
                                      [](const CrossSignature::Named& known,
                                         const std::string& word) { return known.folded < word; });
  return found != names.end() && found->folded == folded ? &*found : nullptr;
}

void sort_names(CrossSignature& out) {
  std::stable_sort(out.operands.begin(), out.operands.end(), comes_before);
  std::stable_sort(out.attributes.begin(), out.attributes.end(), comes_before);
}

}  // namespace

const CrossSignature::Named* CrossSignature::find_operand(const std::string& folded) const {
  return find_name(operands, folded);
}

const CrossSignature::Named* CrossSignature::find_attribute(const std::string& folded) const {
  return find_name(attributes, folded);
}

CountRange CrossSignature::produced() const {
  CountRange range = outputs;
  if (range.max != CountRange::unbounded) range.max += mutated;
  return range;
}

CrossSignature read_signature(const CrossColumn& column) {
  CrossSignature out;
  out.target = column.target;
  const Fact& item = column.item;
  if (column.target) {
    read_spec(item[Key::spec], out);
    out.target = true;
    sort_names(out);
    return out;
  }
  read_attributes(item[Key::attributes], out);
  if (item[Key::inputs].is_list()) {
    read_input_list(column.manifest, item[Key::inputs], out);
  }
  if (item[Key::outputs].is_list()) {
    read_output_list(column.manifest, item[Key::outputs], out);
  }
  read_schema_text(item[Key::schema], out);
  if (!out.inputs_at.said()) {
    read_count(column.manifest, item[Key::inputs], out.inputs_at, out.inputs);
  }
  if (!out.outputs_at.said()) {
    read_count(column.manifest, item[Key::outputs], out.outputs_at, out.outputs);
  }
  sort_names(out);
  return out;
}

Severity severity_of_break(const CrossColumn& a, const CrossColumn& b) {
  return certainty_of(a, b) == Certainty::likely ? Severity::warning : Severity::error;
}

Severity severity_of_decision(const CrossColumn& a, const CrossColumn& b) {
  return certainty_of(a, b) == Certainty::likely ? Severity::note : Severity::warning;
}

}  // namespace opseal
