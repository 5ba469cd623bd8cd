#include <algorithm>
#include <optional>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/schema_text.h"
#include "opseal/text.h"

namespace opseal {
namespace {

struct Parameters {
  // Sorted; empty where not all of them are known by name.
  std::vector<std::string_view> names;
  Fact source;
};

Parameters parameters_of(const Fact& op) {
  Parameters parameters;
  if (const std::optional<OperatorSchema> schema = read_schema(op[Key::schema])) {
    if (schema->more_inputs || !schema->says_mutation) return {};
    parameters.source = op[Key::schema];
    for (const SchemaOperand& input : schema->inputs) parameters.names.push_back(input.name);
  } else {
    if (!all_read(op[Key::inputs]) || !all_read(op[Key::attributes])) return {};
    parameters.source = op[Key::inputs];
    for (const Key list : {Key::inputs, Key::attributes}) {
      for (const Fact item : op[list].items()) parameters.names.push_back(item[Key::name].text());
    }
  }
  std::sort(parameters.names.begin(), parameters.names.end());
  if (!parameters.names.empty() && parameters.names.front().empty()) return {};
  return parameters;
}

void check_list(const Fact& manifest, const Fact& op, const Fact& mutates, Sink& sink) {
  const Parameters parameters = parameters_of(op);
  if (!parameters.source.said()) return;
  sink.inspected();
  for (const Fact name : mutates.items()) {
    if (!name.is_text() ||
        std::binary_search(parameters.names.begin(), parameters.names.end(), name.text())) {
      continue;
    }
    Finding& finding =
        sink.add(subject_of(manifest, op),
                 "`mutates_args` names " + quote(name.text()) + ", which is no parameter" +
                     did_you_mean(name.text(), parameters.names),
                 evidence(name, "named here" + site_of(op)));
    finding.related.push_back(evidence(parameters.source, "parameters"));
    return;
  }
}

void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    const Fact mutates = op[Key::mutates_args];
    if (mutates.is_list()) {
      check_list(manifest, op, mutates, sink);
    } else if (mutates.is_text()) {
      sink.inspected();
      if (mutates.is("unknown")) return;
      sink.add(
          subject_of(manifest, op),
          "`mutates_args` is the text " + quote(mutates.text()) + ", a list of names is expected",
          evidence(mutates, "written here" + site_of(op)));
    }
  });
}

}  // namespace

extern constinit const Rule mutates_args_malformed{
    .id = "mutates-args-malformed",
    .title = "`mutates_args` names no parameter, or is a text where a list is asked for",
    .rationale =
        "The list says which arguments an operator writes, and the schema is derived from it. A "
        "name that no parameter has marks nothing, and a text is a list of its letters: either "
        "way the registration fails at import, or the write goes unmarked and compiled programs "
        "reorder it away.",
    .example =
        R"({"name": "scale_", "mutates_args": "x,y", "inputs": [{"name": "x"}, {"name": "y"}]})",
    .fix = "list the names of the parameters one by one, as in `(\"x\", \"y\")`",
    .severity = Severity::error,
    .inspects = "operator with `mutates_args` whose parameters are known by name",
    .needs = {Key::operators, Key::mutates_args},
    .check = check,
};

}  // namespace opseal
