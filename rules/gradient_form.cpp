#include <string>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// The one gradient of one input, where a tuple of one is asked for.
void judge_value(const Fact& manifest, const Fact& op, Sink& sink) {
  const Fact gradient = op[Key::gradient];
  if (!gradient[Key::returns].is_count()) return;
  sink.inspected();
  const Fact form = gradient[Key::form];
  const Stated<CountRange> inputs = operand_count(op[Key::inputs]);
  // Of several inputs `grad-arity` says that gradients are missing.
  if (!form.is("value") || !inputs || inputs->max != 1) return;
  const Fact function = gradient[Key::function];
  Finding& finding =
      sink.add(subject_of(manifest, op),
               "the backward" + (function ? " " + function_text(function) : std::string()) +
                   " returns the gradient itself, expected a tuple of 1",
               evidence(form, "returned here"));
  finding.related.push_back(evidence(op[Key::inputs], "inputs counted here" + site_of(op)));
}

void judge_pair(const Fact& manifest, const Fact& op, const Fact& call, Sink& sink) {
  const Fact returns = call[Key::returns];
  const Fact kind = call[Key::kind];
  if (!returns.is_count() || (!kind.is("forward") && !kind.is("jvp"))) return;
  sink.inspected();
  if (returns.count() == 2) return;
  const std::string_view pair =
      kind.is("jvp") ? "the result and its tangent" : "the result and what the backward needs";
  Finding& finding =
      sink.add(subject_of(manifest, op),
               quote(kind.text()) + ", " + function_text(call[Key::function]) + ", returns " +
                   plural(returns.count(), "value") + ", expected 2: " + std::string(pair),
               evidence(returns, "returned here"));
  finding.related.push_back(evidence(call[Key::function], "function" + site_of(op)));
}

void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    if (!manifest[Key::system].is("jax-derivatives")) return;
    judge_value(manifest, op, sink);
    for (const Fact call : op[Key::gradient][Key::calls].items()) {
      judge_pair(manifest, op, call, sink);
    }
  });
}

}  // namespace

extern constinit const Rule gradient_form{
    .id = "gradient-form",
    .title = "function of a gradient returns another form than the framework asks for",
    .rationale =
        "JAX asks the forward of a custom derivative for a pair, the result and what it keeps for "
        "the backward, and the backward for a tuple with one gradient for each argument, also "
        "where there is but one. What is returned is looked at when somebody differentiates: "
        "calling the function works, and so does every test that takes no gradient.",
    .example =
        R"({"opseal_manifest": 1, "system": "jax-derivatives", "operators": [{"name": "log1pexp", )"
        R"("inputs": 1, "gradient": {"returns": 1, "form": "value"}}]})",
    .fix = "return `(gradient,)` from a backward of one argument, and a pair from a forward",
    .severity = Severity::error,
    .inspects = "function of a gradient of JAX of which it is said what it returns",
    .needs = {Key::operators, Key::gradient, Key::returns},
    .check = check,
};

}  // namespace opseal
