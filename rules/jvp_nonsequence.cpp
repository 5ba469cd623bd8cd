#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

void check_rule(const Fact& manifest, const Fact& op, const Fact& rule, std::string_view name,
                std::string_view what, Sink& sink) {
  const Fact said = rule[Key::results];
  if (!said.is_text()) return;
  sink.inspected();
  if (!said.is("one")) return;
  std::string message(name);
  if (rule[Key::function].is_object()) message += " " + function_text(rule[Key::function]);
  message += " hands back one value for the ";
  message += what;
  message += ", a sequence is asked for";
  Finding& finding =
      sink.add(subject_of(manifest, op), std::move(message), evidence(said, "one value here"));
  finding.related.push_back(
      evidence(op[Key::multiple_results], "it has several results" + site_of(op)));
}

void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    if (!op[Key::multiple_results].truth()) return;
    const bool each = op[Key::jvp][Key::kind].is("per_input");
    check_rule(manifest, op, op[Key::jvp], each ? "a JVP rule" : "JVP rule",
               each ? "tangents of the results" : "results or their tangents", sink);
    check_rule(manifest, op, op[Key::batching], "batching rule", "results or their axes", sink);
  });
}

}  // namespace

extern constinit const Rule jvp_nonsequence{
    .id = "jvp-nonsequence",
    .title = "rule of an operator with several results hands back one value",
    .rationale =
        "A primitive with `multiple_results` gives a list, even where that has one element. Its "
        "JVP and batching rules have to give lists too: of results and tangents, or of results and "
        "axes. An array in their place is taken apart along its first axis, row by row, and a "
        "number of an axis can't be taken apart at all. The primitive works until somebody "
        "differentiates it or calls `vmap`.",
    .example =
        R"({"opseal_manifest": 1, "system": "jax", "operators": [{"name": "split", "multiple_results": true, )"
        R"("jvp": {"kind": "custom", "results": "one", "function": {"name": "split_jvp"}}}]})",
    .fix = "return tuples or lists with one element for each result: `return (out,), (tangent,)`",
    .severity = Severity::error,
    .inspects =
        "JVP or batching rule of an operator with several results, of which it is known "
        "whether it hands back sequences",
    .needs = {Key::operators, Key::multiple_results, Key::results},
    .check = check,
};

}  // namespace opseal
