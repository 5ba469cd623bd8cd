#include <algorithm>
#include <string>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

constexpr std::uint32_t most_parameters = 128;

// The first parameter that has the name of an argument which comes to another place.
std::string fault_of(const std::vector<std::string>& taken, const std::vector<std::string>& given) {
  for (std::size_t at = 0; at < taken.size(); ++at) {
    if (taken[at].empty() || taken[at] == given[at]) continue;
    const auto meant = std::find(given.begin(), given.end(), taken[at]);
    if (meant == given.end()) continue;
    return "takes " + quote(taken[at]) + " as argument " + std::to_string(at + 1) +
           ", where it is called with it as argument " + std::to_string(meant - given.begin() + 1);
  }
  return {};
}

void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    for (const Fact call : op[Key::gradient][Key::calls].items()) {
      const Fact given = call[Key::parameters];
      const Fact taken = call[Key::function][Key::parameters];
      if (!all_read(given) || !all_read(taken) || given.size() == 0) continue;
      // `gradient-signature` says so of another number.
      if (given.size() != taken.size() || given.size() > most_parameters) continue;
      sink.inspected();
      const std::string fault = fault_of(texts_of(taken), texts_of(given));
      if (fault.empty()) continue;
      const Fact function = call[Key::function];
      Finding& finding =
          sink.add(subject_of(manifest, op),
                   quote(call[Key::kind].text()) + ", " + function_text(function) + ", " + fault,
                   evidence(taken, "parameters of the function"));
      finding.related.push_back(evidence(op[Key::inputs], "called from here" + site_of(op)));
    }
  });
}

}  // namespace

extern constinit const Rule gradient_order{
    .id = "gradient-order",
    .title = "function of a gradient takes its arguments in another order than it is called with",
    .rationale =
        "The arguments that take no gradient (`nondiff_argnums`) come first when JAX calls the "
        "backward or the rule of a JVP, before what the forward kept and the gradients of the "
        "results; in the forward they stay where they are. A function that expects them elsewhere "
        "has the right number of parameters and gets each under the name of another: a number "
        "where an array is used, if it fails at all.",
    .example =
        R"({"opseal_manifest": 1, "system": "jax-derivatives", "operators": [{"name": "psum", )"
        R"("inputs": 1, "gradient": {"calls": [{"kind": "backward", "positional": 3, "parameters": )"
        R"(["axis_name", "", ""], "function": {"name": "bwd", "positional": 3, "parameters": )"
        R"(["res", "g", "axis_name"]}}]}}]})",
    .fix = "take the arguments without a gradient first: `bwd(axis_name, residuals, cotangents)`",
    .severity = Severity::error,
    .inspects = "function of a gradient with named parameters, and the names of what it is given",
    .needs = {Key::operators, Key::gradient, Key::calls, Key::parameters},
    .check = check,
};

}  // namespace opseal
