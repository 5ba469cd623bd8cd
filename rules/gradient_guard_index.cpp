#include <string>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

void judge(const Fact& manifest, const Fact& op, const Fact& guard, Sink& sink) {
  const std::uint32_t input = guard[Key::input].count();
  const bool all_behind = guard[Key::variadic].truth();
  const Stated<CountRange> inputs = operand_count(op[Key::inputs]);
  const std::string asked =
      "input " + std::to_string(input) + (all_behind ? " and later ones" : "");
  if (inputs && !all_behind && inputs->max != CountRange::unbounded && input >= inputs->max) {
    Finding& finding = sink.add(subject_of(manifest, op),
                                "backward asks whether " + asked +
                                    " needs a gradient, and there "
                                    "are " +
                                    to_text(*inputs, "input") + ", counted from 0",
                                evidence(guard, "asked here"));
    finding.related.push_back(evidence(op[Key::inputs], "the forward" + site_of(op)));
    return;
  }
  const Fact place = guard[Key::value];
  if (!place.is_count() || place.count() == input) return;
  Finding& finding =
      sink.add(subject_of(manifest, op),
               "backward asks whether " + asked + (all_behind ? " need" : " needs") +
                   " a gradient, and makes " + (all_behind ? "those from " : "that of ") +
                   "input " + std::to_string(place.count()) + (all_behind ? " on" : ""),
               evidence(guard, "asked here, counted from 0"));
  finding.severity = Severity::warning;
  finding.related.push_back(evidence(op[Key::gradient][Key::function], "backward" + site_of(op)));
}

void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    for (const Fact guard : op[Key::gradient][Key::requires_].items()) {
      if (!guard[Key::input].is_count()) continue;
      sink.inspected();
      judge(manifest, op, guard, sink);
    }
  });
}

}  // namespace

extern constinit const Rule gradient_guard_index{
    .id = "gradient-guard-index",
    .title = "backward asks of another input whether it needs a gradient",
    .rationale =
        "A backward leaves out gradients that nobody wants: `ctx.needs_input_grad[i]` says it of "
        "input `i`, counted from 0 without the context. One that looks at a wrong place leaves "
        "out a gradient that is wanted, so that a parameter is never trained, or computes one for "
        "nothing; a place behind the last input raises. It happens when an argument is added or "
        "moved.",
    .example =
        R"({"opseal_manifest": 1, "system": "torch-autograd", "operators": [{"name": "Linear", "inputs": {"min": 3, "max": 3}, )"
        R"("gradient": {"function": {"name": "backward"}, "requires": [{"input": 2, "value": 1}]}}]})",
    .fix = "ask for the input whose gradient is made there",
    .severity = Severity::error,
    .inspects = "place of a backward that asks for an input by its number",
    .needs = {Key::operators, Key::gradient, Key::requires_},
    .check = check,
};

}  // namespace opseal
