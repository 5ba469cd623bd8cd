#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/schema_text.h"
#include "opseal/sources.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Arguments that the shape function is called with.
struct Call {
  // Given by position in every call that gives all arguments.
  std::uint64_t positional = 0;
  // Given at all, by position or by name.
  std::uint64_t all = 0;
  Fact source;
};

std::optional<Call> call_of(const Fact& op) {
  Call call;
  if (op[Key::schema].said()) {
    // torch hands over what the schema lists, those behind the `*` by name.
    const std::optional<OperatorSchema> schema = read_schema(op[Key::schema]);
    if (!schema || schema->more_inputs) return {};
    for (const SchemaOperand& input : schema->inputs) {
      ++call.all;
      if (!input.keyword_only) ++call.positional;
    }
    call.source = op[Key::schema];
    return call;
  }
  const Stated<CountRange> inputs = operand_count(op[Key::inputs]);
  if (!inputs || inputs->max == CountRange::unbounded || !all_read(op[Key::attributes])) return {};
  call.positional = inputs->min;
  call.all = std::uint64_t{inputs->max} + op[Key::attributes].size();
  call.source = op[Key::inputs];
  return call;
}

// Parameters that can be given by position: as counted, or at most those that are listed.
Stated<std::uint32_t> positional_of(const Fact& abstract) {
  const Fact counted = abstract[Key::positional];
  if (counted.is_count()) return {counted.count(), counted.where(), true};
  const Fact listed = abstract[Key::parameters];
  if (!all_read(listed)) return {};
  for (const Fact name : listed.items()) {
    if (name.text().starts_with('*')) return {};
  }
  return {listed.size(), listed.where(), true};
}

// An argument that the operator hands over by name and the function has no parameter for.
std::string_view untaken_name(const Fact& op, const Fact& abstract) {
  const Fact parameters = abstract[Key::parameters];
  const Fact names = abstract[Key::names];
  if (!all_read(parameters) || (names.said() && !all_read(names))) return {};
  const std::optional<OperatorSchema> schema = read_schema(op[Key::schema]);
  if (!schema) return {};
  std::set<std::string_view> taken;
  for (const Fact list : {parameters, names}) {
    for (const Fact name : list.items()) taken.insert(name.text());
  }
  if (taken.contains("**")) return {};
  for (const SchemaOperand& input : schema->inputs) {
    if (input.keyword_only && !taken.contains(input.name)) return input.name;
  }
  return {};
}

// What replaces the operator by others, or wraps a function that takes anything, has a signature of
// its own.
bool is_shape_function(const Fact& abstract) {
  const Fact kind = abstract[Key::kind];
  return positional_of(abstract).said && !kind.is("decomposition") && !kind.is("composite");
}

void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    const Fact abstract = op[Key::abstract];
    if (!is_shape_function(abstract)) return;
    const std::optional<Call> call = call_of(op);
    if (!call) return;
    sink.inspected();
    const Stated<std::uint32_t> stated = positional_of(abstract);
    const std::uint32_t positional = *stated;
    const std::uint32_t required = abstract[Key::required].count();
    const bool too_few = positional < call->positional && !abstract[Key::variadic].truth();
    const bool too_many = required > call->all;
    // A list of a dump may leave out what is given by name.
    const std::string_view untaken =
        is_of_sources(manifest) ? untaken_name(op, abstract) : std::string_view();
    if (!too_few && !too_many && untaken.empty()) return;
    const std::string message =
        too_few ? "shape function takes " + plural(positional, "positional parameter") +
                      ", the operator passes " + std::to_string(call->positional)
        : too_many ? "shape function requires " + plural(required, "parameter") +
                         ", the operator passes " + std::to_string(call->all)
                   : "shape function has no parameter " + quote(untaken) +
                         ", which the operator passes by name";
    Finding& finding = sink.add(subject_of(manifest, op), message,
                                {too_many ? abstract[Key::required].where() : stated.where,
                                 "parameters of " + function_text(abstract)});
    finding.related.push_back(evidence(call->source, "arguments counted here" + site_of(op)));
  });
}

}  // namespace

extern constinit const Rule fake_signature{
    .id = "fake-signature",
    .title = "shape function takes other parameters than the operator",
    .rationale =
        "The shape function (fake, meta, abstract evaluation) is called with the operator's own "
        "arguments. This one can't take them: an argument was added to the operator and not to the "
        "function, or the reverse. Eager calls work, since they never ask for it; tracing and "
        "compiling stop with a Python error about the number of arguments.",
    .example =
        R"({"name": "scale", "schema": "lib::scale(Tensor x, float by) -> Tensor", "abstract": {"name": "scale_fake", "positional": 1}})",
    .fix = "give the shape function the parameters of the operator, in the same order",
    .severity = Severity::error,
    .inspects = "operator whose arguments and whose shape function's parameters are stated",
    .needs = {Key::operators, Key::abstract},
    .check = check,
};

}  // namespace opseal
