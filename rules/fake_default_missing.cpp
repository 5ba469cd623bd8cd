#include <cstdint>
#include <optional>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/schema_text.h"
#include "opseal/sources.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// The first argument that a function requires and a call may leave out.
const SchemaOperand* left_out(const OperatorSchema& schema, const Fact& parameters,
                              std::uint32_t required) {
  std::size_t positional = 0;
  std::size_t passed = 0;
  for (const SchemaOperand& input : schema.inputs) {
    if (input.keyword_only) break;
    ++positional;
    if (!input.has_default) passed = positional;
  }
  if (required > passed && passed < positional) return &schema.inputs[passed];
  // What stands behind the `*` is handed over by name.
  std::uint32_t place = 0;
  for (const Fact parameter : parameters.items()) {
    if (place >= required) break;
    if (place++ < positional) continue;
    for (const SchemaOperand& input : schema.inputs) {
      if (input.keyword_only && input.has_default && parameter.is(input.name)) return &input;
    }
  }
  return nullptr;
}

class DefaultCheck {
 public:
  explicit DefaultCheck(Sink& sink) : sink_(&sink) {}

  void look_at(const Fact& manifest, const Fact& op) {
    if (!manifest[Key::system].is("torch")) return;
    const std::optional<OperatorSchema> schema = read_schema(op[Key::schema]);
    if (!schema || schema->more_inputs) return;
    const Fact abstract = op[Key::abstract];
    const Fact kind = abstract[Key::kind];
    if (!kind.is("decomposition") && !kind.is("composite")) {
      judge(manifest, op, *schema, abstract, "shape function");
    }
    for (const Fact kernel : op[Key::kernels].items()) {
      // What C++ takes, it takes whole.
      if (kernel[Key::native_signature].said() || !is_of_sources(manifest)) continue;
      if (!is_in_python(kernel)) continue;
      judge(manifest, op, *schema, kernel[Key::function], "kernel");
    }
  }

 private:
  void judge(const Fact& manifest, const Fact& op, const OperatorSchema& schema,
             const Fact& function, std::string_view what) {
    const Fact required = function[Key::required];
    if (!required.is_count()) return;
    sink_->inspected();
    // One that takes more than there is, is `fake-signature`.
    if (required.count() > schema.inputs.size()) return;
    const SchemaOperand* found = left_out(schema, function[Key::parameters], required.count());
    if (found == nullptr) return;
    const SchemaOperand& first = *found;
    Finding& finding = sink_->add(
        subject_of(manifest, op),
        std::string(what) + " requires " + quote(first.name) + ", which the schema makes optional",
        {required.where(), "parameters of " + function_text(function)});
    finding.related.push_back(evidence(op[Key::schema], quote(first.name) + " has the default " +
                                                            quote(first.default_value) + " here" +
                                                            site_of(op)));
  }

  Sink* sink_;
};

void check(const Facts& facts, Sink& sink) {
  DefaultCheck defaults(sink);
  for_each_operator(
      facts, [&defaults](const Fact& manifest, const Fact& op) { defaults.look_at(manifest, op); });
}

}  // namespace

extern constinit const Rule fake_default_missing{
    .id = "fake-default-missing",
    .title = "function requires an argument that the schema makes optional",
    .rationale =
        "Functions of Python get the arguments of a call without those at its end that equal the "
        "schema's defaults. One whose parameter has no default is then called with too few: Python "
        "raises a TypeError, in the kernel at each such call, in the shape function only when a "
        "model is traced or compiled.",
    .example =
        R"({"opseal_manifest": 1, "system": "torch", "operators": [{"name": "lib::norm", "schema": "lib::norm(Tensor x, float eps=1e-05) -> Tensor", )"
        R"("abstract": {"name": "norm_fake", "positional": 2, "required": 2}}]})",
    .fix = "give the parameter the default of the schema",
    .severity = Severity::warning,
    .inspects = "function of Python for an operator with a schema, whose parameters are known",
    .needs = {Key::operators, Key::schema, Key::required},
    .check = check,
};

}  // namespace opseal
