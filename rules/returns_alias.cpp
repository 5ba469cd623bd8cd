#include <algorithm>
#include <cstddef>
#include <optional>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/schema_text.h"
#include "opseal/text.h"
#include "rules/framework_rows.h"
#include "rules/kernel_roles.h"

namespace opseal {
namespace {

bool says_alias(const OperatorSchema& schema) {
  return std::any_of(schema.outputs.begin(), schema.outputs.end(),
                     [](const SchemaOperand& output) { return !output.alias.empty(); });
}

// Kernels that torch goes into, and shape functions, are judged by what they are made of.
bool is_opaque_kernel(const Fact& kernel) {
  const Fact platform = kernel[Key::platform];
  return is_active_kernel(kernel) && !platform.is("CompositeImplicitAutograd") &&
         !platform.is("Meta") && !is_autograd_key(platform.text()) &&
         !platform.text().starts_with("Autocast");
}

class AliasCheck {
 public:
  explicit AliasCheck(Sink& sink) : sink_(&sink) {}

  void look_at(const Fact& manifest, const Fact& op) {
    if (!manifest[Key::system].is("torch")) return;
    const std::optional<OperatorSchema> schema = read_schema(op[Key::schema]);
    if (!schema || !schema->says_mutation || schema->more_inputs || schema->outputs.empty()) return;
    for (const Fact kernel : op[Key::kernels].items()) {
      const Fact parameters = kernel[Key::function][Key::parameters];
      if (!all_read(parameters) || !is_opaque_kernel(kernel)) continue;
      sink_->inspected();
      const Fact handed_back = kernel[Key::aliases];
      if (says_alias(*schema)) continue;
      for (const Fact name : handed_back.items()) {
        const SchemaOperand* input = argument_of(*schema, parameters, name);
        if (input == nullptr || !input->is_tensor() || input->lists > 0) continue;
        report(manifest, op, kernel, name);
        return;
      }
    }
  }

 private:
  static const SchemaOperand* argument_of(const OperatorSchema& schema, const Fact& parameters,
                                          const Fact& name) {
    std::size_t place = 0;
    for (const Fact parameter : parameters.items()) {
      if (parameter.name() == name.name()) break;
      ++place;
    }
    if (place < parameters.size()) {
      return place < schema.inputs.size() ? &schema.inputs[place] : nullptr;
    }
    for (const SchemaOperand& input : schema.inputs) {
      if (name.is(input.name)) return &input;
    }
    return nullptr;
  }

  void report(const Fact& manifest, const Fact& op, const Fact& kernel, const Fact& name) {
    Finding& finding = sink_->add(subject_of(manifest, op),
                                  function_text(kernel[Key::function]) +
                                      " hands back its argument " + quote(name.text()) +
                                      ", or a view of it, where the schema promises a new tensor",
                                  evidence(name, "returned by this function"));
    finding.related.push_back(evidence(op[Key::schema], "schema" + site_of(op)));
  }

  Sink* sink_;
};

void check(const Facts& facts, Sink& sink) {
  AliasCheck aliases(sink);
  for_each_operator(
      facts, [&aliases](const Fact& manifest, const Fact& op) { aliases.look_at(manifest, op); });
  // What torch saw when it called the operator.
  constexpr FrameworkFault faults[] = {
      {"alias", "hands back the memory of an argument where its schema promises a new tensor",
       Severity::warning},
  };
  judge_operator_rows(facts, faults, sink);
}

}  // namespace

extern constinit const Rule returns_alias{
    .id = "returns-alias",
    .title = "operator hands back its argument, or a view of it",
    .rationale =
        "A custom operator's result must be a tensor of its own, unless its schema says of which "
        "argument it is an alias. Compilers take the result for new memory: they write into it, or "
        "free the argument, and the other side changes. Newer releases of torch look at the result "
        "and raise instead, often only for the shapes for which nothing had to be copied.",
    .example =
        R"({"opseal_manifest": 1, "system": "torch", "operators": [{"name": "lib::chunk", "schema": "lib::chunk(Tensor x) -> Tensor", )"
        R"("kernels": [{"platform": "CUDA", "function": {"name": "chunk", "parameters": ["x"]}, "aliases": ["x"]}]}]})",
    .fix = "return a copy, as in `x.clone()`",
    .severity = Severity::warning,
    .inspects =
        "kernel of a custom operator whose parameters are known by name, or call of an operator by "
        "its framework",
    .needs = {},
    .check = check,
};

}  // namespace opseal
