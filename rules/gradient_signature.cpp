#include <algorithm>
#include <string>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

bool takes_any_name(const Fact& function) { return list_has(function[Key::names], "**"); }

// What is wrong with a function that is called like this, or empty.
std::string fault_of(const Fact& call) {
  const Fact function = call[Key::function];
  const Fact positional = function[Key::positional];
  const std::vector<std::string> given = texts_of(call[Key::names]);
  const std::uint32_t passed = call[Key::positional].count();
  if (!positional.is_count()) return {};
  if (given.empty()) {
    if (positional.count() < passed && !function[Key::variadic].truth()) {
      return "takes " + plural(positional.count(), "argument") + ", and is called with " +
             std::to_string(passed);
    }
    const Fact required = function[Key::required];
    if (required.is_count() && required.count() > passed) {
      return "requires " + plural(required.count(), "argument") + ", and is called with " +
             std::to_string(passed);
    }
    return {};
  }
  const Fact parameters = function[Key::parameters];
  if (!all_read(parameters) || passed > 0) return {};
  for (const std::string& name : given) {
    if (takes_any_name(function) || list_has(parameters, name) ||
        list_has(function[Key::names], name)) {
      continue;
    }
    return "has no parameter " + quote(name) + ", by which name it is called";
  }
  std::uint32_t place = 0;
  for (const Fact parameter : parameters.items()) {
    if (place++ == function[Key::required].count()) break;
    if (std::find(given.begin(), given.end(), parameter.text()) != given.end()) continue;
    return "requires " + quote(parameter.text()) + ", and is called with " + join(given, ", ");
  }
  return {};
}

void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    for (const Fact call : op[Key::gradient][Key::calls].items()) {
      const Fact function = call[Key::function];
      if (!function[Key::positional].is_count()) continue;
      sink.inspected();
      const std::string fault = fault_of(call);
      if (fault.empty()) continue;
      const bool named_so = call[Key::kind].is(function[Key::name].text());
      const std::string kind(named_so ? std::string_view() : call[Key::kind].text());
      Finding& finding = sink.add(subject_of(manifest, op),
                                  (kind.empty() ? std::string() : quote(kind) + ", ") +
                                      function_text(function) + (kind.empty() ? " " : ", ") + fault,
                                  evidence(function[Key::positional], "parameters counted here"));
      // Who never exports the model never calls it.
      if (call[Key::kind].is("symbolic")) finding.severity = Severity::warning;
      const Fact inputs = op[Key::inputs].said() ? op[Key::inputs] : op[Key::schema];
      finding.related.push_back(evidence(inputs, "inputs counted here" + site_of(op)));
    }
  });
}

}  // namespace

extern constinit const Rule gradient_signature{
    .id = "gradient-signature",
    .title = "function of a gradient can't be called as the framework calls it",
    .rationale =
        "A framework calls the functions of a custom gradient in a fixed way: the forward rule "
        "with the arguments of the operator, the backward with what the forward kept and the "
        "gradients of the results, `setup_context` by the names of its parameters. One that takes "
        "another number of arguments, or other names, raises when somebody trains; registering it "
        "and running the operator without a gradient both work.",
    .example =
        R"({"name": "lib::scale", "schema": "lib::scale(Tensor x, float by) -> Tensor", )"
        R"("gradient": {"calls": [{"kind": "setup_context", "names": ["ctx", "inputs", "output"], )"
        R"("function": {"name": "setup", "positional": 2, "required": 2, "parameters": ["ctx", "inputs"]}}]}})",
    .fix = "give the function the parameters that it is called with, by number and by name",
    .severity = Severity::error,
    .inspects = "function of a gradient with its parameters and what it is called with",
    .needs = {Key::gradient, Key::calls},
    .check = check,
};

}  // namespace opseal
