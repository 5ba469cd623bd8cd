#include <string>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Operators have few attributes, and each is looked for in each rule.
constexpr std::uint32_t most_attributes = 256;

void look_at(const Fact& manifest, const Fact& op, std::string_view what, const Fact& rule,
             Sink& sink) {
  const Fact uses = rule[Key::uses];
  if (!all_read(uses)) return;
  sink.inspected();
  std::vector<std::string> unread;
  Fact first;
  for (const Fact attribute : op[Key::attributes].items()) {
    const Fact name = attribute[Key::name];
    if (!name.is_text() || list_has(uses, name.text())) continue;
    if (unread.empty()) first = name;
    unread.emplace_back(name.text());
  }
  if (unread.empty()) return;
  const Fact function = rule[Key::function];
  const Fact place = function.said() ? function[Key::name] : uses;
  Finding& finding =
      sink.add(subject_of(manifest, op),
               std::string(what) + " " + function_text(function) + " makes the operation without " +
                   quote_list(unread) + ", by which two of it are told apart",
               evidence(place, "defined here" + site_of(function)));
  finding.related.push_back(evidence(first, "compared here" + site_of(op)));
}

void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    const Fact attributes = op[Key::attributes];
    if (!all_read(attributes) || attributes.size() == 0 || attributes.size() > most_attributes) {
      return;
    }
    look_at(manifest, op, "batching rule", op[Key::batching], sink);
    look_at(manifest, op, "JVP rule", op[Key::jvp], sink);
  });
}

}  // namespace

extern constinit const Rule attribute_unread{
    .id = "attribute-unread",
    .title = "rule of an operator that doesn't read what the operator was made with",
    .rationale =
        "A batching or JVP rule in C++ calls the function of the operation again, on other "
        "inputs, with the parameters that the object keeps. One that it doesn't name takes the "
        "default of that function: the operation is right by itself and another one under "
        "`vmap`, and no type tells.",
    .example =
        R"({"name": "Equal", "attributes": [{"name": "equal_nan_"}], "batching": {"kind": "general", "function": {"name": "Equal::vmap"}, "uses": []}})",
    .fix = "hand the parameter on to the function that the rule calls",
    .severity = Severity::warning,
    .inspects = "rule of which it is said which of the operator's attributes it reads",
    .needs = {Key::operators, Key::attributes, Key::uses},
    .check = check,
};

}  // namespace opseal
