#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/schema_text.h"
#include "opseal/text.h"
#include "rules/cpp_types.h"

namespace opseal {
namespace {

// The type of a schema's operand as kernels are compared with it: without sizes of lists, and with
// integers for what torch hands over as such. Empty where C++ may have a type of its own for it.
std::string compared_type(const SchemaOperand& operand) {
  constexpr std::array<std::string_view, 9> words{"Tensor", "int",    "float",     "bool",   "str",
                                                  "Scalar", "Device", "Generator", "Storage"};
  constexpr std::array<std::string_view, 4> integers{"SymInt", "ScalarType", "Layout",
                                                     "MemoryFormat"};
  std::string type;
  if (std::find(words.begin(), words.end(), operand.type) != words.end()) {
    type = operand.type;
  } else if (operand.type == "number") {
    type = "Scalar";
  } else if (std::find(integers.begin(), integers.end(), operand.type) != integers.end()) {
    type = "int";
  } else {
    return {};
  }
  const std::string text = torch_type_text(operand);
  bool size = false;
  for (const char byte : std::string_view(text).substr(operand.type.size())) {
    if (byte == '[') {
      type += "[]";
      size = true;
    } else if (byte == ']') {
      size = false;
    } else if (byte == '?') {
      type += '?';
    } else if (!size && byte != ' ') {
      return {};
    }
  }
  return type;
}

// Others whose operators have a schema compare nothing, or other types.
bool speaks_torch(const Fact& system) {
  return !system.said() || system.is("torch") || system.is("engine");
}

struct Mismatch {
  std::string text;
};

Mismatch mismatch_of_parameters(const TorchSignature& signature, const OperatorSchema& schema) {
  for (std::size_t at = 0; at < schema.inputs.size(); ++at) {
    const std::string expected = compared_type(schema.inputs[at]);
    const std::string& found = signature.parameters[at];
    if (expected.empty() || found.empty() || found == expected) continue;
    return {"takes " + quote(signature.written[at]) + " where its schema has " +
            quote(torch_type_text(schema.inputs[at]) + " " + std::string(schema.inputs[at].name))};
  }
  return {};
}

Mismatch mismatch_of_results(const TorchSignature& signature, const OperatorSchema& schema) {
  if (!signature.says_results || schema.more_outputs) return {};
  const std::string returns = "returns " + quote(signature.written_result) + ", its schema has ";
  if (signature.results.size() != schema.outputs.size()) {
    return {returns + plural(schema.outputs.size(), "result")};
  }
  for (std::size_t at = 0; at < schema.outputs.size(); ++at) {
    const std::string expected = compared_type(schema.outputs[at]);
    const std::string& found = signature.results[at];
    if (expected.empty() || found.empty() || found == expected) continue;
    return {returns + quote(torch_type_text(schema.outputs[at]))};
  }
  return {};
}

void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    const Fact text = op[Key::schema];
    if (!text.is_text() || !speaks_torch(manifest[Key::system])) return;
    std::optional<OperatorSchema> schema;
    for (const Fact kernel : op[Key::kernels].items()) {
      if (!kernel[Key::native_signature].is_text()) continue;
      if (!schema) schema = read_torch_schema(text.text());
      if (!schema || schema->more_inputs) return;
      const std::optional<TorchSignature> signature =
          read_cpp_signature(kernel[Key::native_signature].text());
      // Another number of them is `schema-arity`.
      if (!signature || signature->parameters.size() != schema->inputs.size()) continue;
      sink.inspected();
      Mismatch what = mismatch_of_parameters(*signature, *schema);
      if (what.text.empty()) what = mismatch_of_results(*signature, *schema);
      if (what.text.empty()) continue;
      const Fact function = kernel[Key::function];
      const std::string name = function[Key::name].is_text()
                                   ? ", " + quote(function[Key::name].text()) + ","
                                   : std::string();
      Finding& finding = sink.add(
          subject_of(manifest, op), "kernel on " + decision_text(kernel) + name + " " + what.text,
          evidence(kernel[Key::native_signature], "declared here" + site_of(function)));
      finding.related.push_back(evidence(text, "the schema" + site_of(op)));
      finding.related.push_back(evidence(kernel, "registered here" + site_of(kernel)));
    }
  });
}

}  // namespace

extern constinit const Rule schema_type{
    .id = "schema-type",
    .title = "C++ kernel has other types than its operator's schema",
    .rationale =
        "When a library is loaded, torch works out a schema from the C++ function and holds it "
        "against the one that the operator was defined with, type by type. A difference ends "
        "the import of the package with \"inferred operator schema doesn't match\". The compiler "
        "sees nothing of it, so that it stays in builds that nobody loads: another device, another "
        "release of torch. Through the stable interface nothing is compared, and the kernel reads "
        "the bits of one type as another.",
    .example =
        R"-({"name": "lib::scale", "schema": "lib::scale(Tensor x, int by) -> Tensor", )-"
        R"-("kernels": [{"platform": "CPU", "native_signature": "at::Tensor (at::Tensor x, double by)"}]})-",
    .fix =
        "give the kernel the types of the schema: `int64_t` for `int`, `double` for `float`, "
        "`std::optional` for `?`",
    .severity = Severity::error,
    .inspects = "C++ kernel with a known signature, of an operator with a schema",
    .needs = {Key::operators, Key::schema, Key::kernels, Key::native_signature},
    .check = check,
};

}  // namespace opseal
