#include <algorithm>
#include <optional>
#include <string>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/schema_text.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// What is wrong with the text, or empty.
std::string fault_of(std::string_view text) {
  // A name alone leaves the rest to be inferred from a function.
  if (text.find('(') == text.npos) return {};
  if (text.find("->") == text.npos) return "no `->` with a result";
  const std::optional<OperatorSchema> schema = read_torch_schema(text);
  if (!schema) return "its brackets, commas or arguments don't fit together";
  const auto nameless =
      std::find_if(schema->inputs.begin(), schema->inputs.end(),
                   [](const SchemaOperand& operand) { return operand.name.empty(); });
  if (nameless == schema->inputs.end()) return {};
  const auto number = static_cast<std::size_t>(nameless - schema->inputs.begin()) + 1;
  return "argument " + std::to_string(number) + ", " + quote(nameless->type) + ", has no name";
}

void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    const Fact schema = op[Key::schema];
    if (!manifest[Key::system].is("torch") || !schema.is_text()) return;
    sink.inspected();
    const std::string fault = fault_of(schema.text());
    if (fault.empty()) return;
    sink.add(subject_of(manifest, op),
             "schema " + quote(schema.text()) + " can't be parsed: " + fault,
             evidence(schema, "schema stated here" + site_of(op)));
  });
}

}  // namespace

extern constinit const Rule schema_malformed{
    .id = "schema-malformed",
    .title = "operator schema that the framework can't parse",
    .rationale =
        "The text of a schema is parsed when the library that defines the operator is loaded, and "
        "not before. A missing bracket, result or name throws then: the import fails, and with it "
        "every other operator of that library.",
    .example = R"({"opseal_manifest": 1, "system": "torch", "operators": [)"
               R"({"name": "ns::scale", "schema": "ns::scale(Tensor x, float) -> Tensor"}]})",
    .fix = "write `name(Type argument, …) -> Result`; `-> ()` for no result",
    .severity = Severity::error,
    .inspects = "operator of torch with a schema",
    .needs = {Key::operators, Key::schema},
    .check = check,
};

}  // namespace opseal
