#include <optional>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/schema_text.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Arguments of a call.
struct Arguments {
  std::uint32_t positional = 0;
  // Of these, without the last ones that have a default: torch leaves those out for a kernel in
  // Python when a call leaves them out.
  std::uint32_t always = 0;
  std::uint32_t all = 0;
};

Arguments arguments_of(const OperatorSchema& schema) {
  Arguments arguments;
  for (const SchemaOperand& input : schema.inputs) {
    ++arguments.all;
    if (input.keyword_only) continue;
    ++arguments.positional;
    if (!input.has_default) arguments.always = arguments.positional;
  }
  return arguments;
}

// Python takes what stands behind the `*` by name, and may have defaults; C++ is handed everything
// in order.
struct Mismatch {
  std::string text;
  // Only in calls that give the last arguments another value than their default.
  bool sometimes = false;
};

Mismatch mismatch(const Fact& kernel, const Arguments& arguments) {
  const Fact function = kernel[Key::function];
  const std::uint32_t positional = function[Key::positional].count();
  const std::uint32_t required = function[Key::required].count(positional);
  if (kernel[Key::native_signature].is_text()) {
    if (positional == arguments.all) return {};
    return {"takes " + plural(positional, "parameter") + ", its schema has " +
            plural(arguments.all, "argument")};
  }
  if (positional < arguments.positional && !function[Key::variadic].truth()) {
    const bool sometimes = positional >= arguments.always;
    return {"takes " + plural(positional, "positional parameter") + ", its schema passes " +
                std::to_string(arguments.positional) +
                (sometimes ? " when none is left at its default" : ""),
            sometimes};
  }
  if (required > arguments.all) {
    return {"requires " + plural(required, "parameter") + ", its schema has " +
            plural(arguments.all, "argument")};
  }
  return {};
}

void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    const Fact text = op[Key::schema];
    if (!text.is_text()) return;
    std::optional<OperatorSchema> schema;
    for (const Fact kernel : op[Key::kernels].items()) {
      const Fact function = kernel[Key::function];
      if (!function[Key::positional].is_count()) continue;
      if (!schema) schema = read_schema(text);
      if (!schema || schema->more_inputs) return;
      sink.inspected();
      const Mismatch what = mismatch(kernel, arguments_of(*schema));
      if (what.text.empty()) continue;
      Finding& finding =
          sink.add(subject_of(manifest, op),
                   "kernel on " + decision_text(kernel) + ", " + quote(function[Key::name].text()) +
                       ", " + what.text,
                   evidence(function, "parameters counted here" + site_of(function)));
      if (what.sometimes) finding.severity = Severity::warning;
      finding.related.push_back(evidence(text, "the schema" + site_of(op)));
      finding.related.push_back(evidence(kernel, "registered here" + site_of(kernel)));
    }
  });
}

}  // namespace

extern constinit const Rule schema_arity{
    .id = "schema-arity",
    .title = "kernel takes another number of arguments than its operator's schema has",
    .rationale =
        "The schema says what an operator is called with, and the kernel is called with just that. "
        "An argument was added to one of the two and not to the other. A C++ kernel is refused "
        "when its library is loaded, so that importing the package fails; where registration "
        "doesn't compare, as behind an interface of plain C, the kernel reads arguments that "
        "nobody passed. A Python kernel fails at its first call.",
    .example =
        R"({"name": "lib::scale", "schema": "lib::scale(Tensor x, float by) -> Tensor", "kernels": [{"platform": "cpu", "function": {"name": "scale", "positional": 1}}]})",
    .fix = "give the kernel the parameters of the schema, in the same order",
    .severity = Severity::error,
    .inspects = "kernel whose parameters are stated, of an operator with a schema",
    .needs = {Key::operators, Key::schema, Key::kernels, Key::function},
    .check = check,
};

}  // namespace opseal
