#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

bool has_attribute(const Fact& attributes, Name name) {
  for (const Fact attribute : attributes.items()) {
    if (attribute[Key::name].name() == name) return true;
  }
  return false;
}

constexpr std::uint32_t most_attributes = 256;

// Attributes reach a rule by keyword, so a positional parameter that bears the name of one is no
// surplus. Returns how many required parameters beyond the first `expected` no attribute can fill,
// or 0 when it isn't known.
std::uint32_t unfilled_parameters(const Fact& op, const Fact& rule, std::uint32_t expected) {
  const Fact required = rule[Key::required];
  const Fact attributes = op[Key::attributes];
  if (!required.is_count() || required.count() <= expected || !all_read(attributes)) return 0;
  // Names are compared one by one, and no operator has hundreds.
  if (attributes.size() > most_attributes) return 0;
  const std::uint32_t surplus = required.count() - expected;
  const Fact parameters = rule[Key::parameters];
  if (!parameters.is_list()) return surplus > attributes.size() ? surplus : 0;
  std::uint32_t unfilled = 0;
  std::uint32_t position = 0;
  for (const Fact parameter : parameters.items()) {
    if (position >= required.count()) break;
    if (position++ < expected) continue;
    if (!parameter.is_text() || has_attribute(attributes, parameter.name())) continue;
    ++unfilled;
  }
  return unfilled;
}

std::string leading_text(const Fact& leading) {
  const std::uint32_t count = leading.count(1);
  if (count == 1) return "the tangent";
  if (count == 2) return "the tangent, the result";
  return plural(count, "leading argument");
}

void report(const Fact& manifest, const Fact& op, const Fact& rule, std::uint32_t slot,
            std::string message, Sink& sink) {
  Finding& finding = sink.add(
      subject_of(manifest, op),
      "JVP rule " + std::to_string(slot) + ", " + function_text(rule) + ", " + std::move(message),
      evidence(rule[Key::positional], "parameters counted here"));
  finding.related.push_back(evidence(op[Key::inputs], "inputs counted here" + site_of(op)));
}

void check_operator(const Fact& manifest, const Fact& op, Sink& sink) {
  const Fact jvp = op[Key::jvp];
  if (!jvp[Key::kind].is("per_input")) return;
  const Stated<CountRange> inputs = operand_count(op[Key::inputs]);
  if (!inputs) return;
  // Where nobody says what comes before the inputs, it is the tangent and perhaps the result.
  const Fact leading = jvp[Key::leading];
  const std::uint64_t least = std::uint64_t{leading.count(1)} + inputs->min;
  const std::uint64_t most = std::uint64_t{leading.count(2)} + inputs->max;
  bool inspected = false;
  Name reported = Names::missing;
  std::uint32_t slot = 0;
  for (const Fact rule : jvp[Key::rules].items()) {
    const std::uint32_t here = slot++;
    const Fact positional = rule[Key::positional];
    if (!positional.is_count()) continue;
    inspected = true;
    // One function in several slots is one mistake.
    if (rule[Key::variadic].truth() || rule[Key::name].name() == reported) continue;
    const bool too_few = positional.count() < least;
    const bool too_many = inputs->max != CountRange::unbounded &&
                          unfilled_parameters(op, rule, static_cast<std::uint32_t>(most)) > 0;
    if (!too_few && !too_many) continue;
    const std::string expected = too_few ? std::to_string(least) : std::to_string(most);
    report(manifest, op, rule, here,
           (too_few ? "takes " + plural(positional.count(), "positional argument")
                    : "requires " + plural(rule[Key::required].count(), "positional argument")) +
               ", and is called with " + expected + ": " + leading_text(leading) + " and " +
               to_text(*inputs, "input") +
               (too_few ? "" : "; no attribute has the name of the surplus"),
           sink);
    reported = rule[Key::name].name();
  }
  if (inspected) sink.inspected();
}

void check(const Facts& facts, Sink& sink) {
  for_each_operator(
      facts, [&sink](const Fact& manifest, const Fact& op) { check_operator(manifest, op, sink); });
}

}  // namespace

extern constinit const Rule jvp_signature{
    .id = "jvp-signature",
    .title = "JVP rule takes another number of arguments than it is called with",
    .rationale =
        "A per-input JVP rule is called with the tangent of its input (in some systems the result "
        "too) and then with every input of the operator. A rule that takes fewer positional "
        "arguments, or requires more that no attribute fills, raises as soon as somebody "
        "differentiates with respect to that input; registering it and running the operator "
        "forward both work.",
    .example =
        R"({"name": "mv", "inputs": 2, "jvp": {"kind": "per_input", "leading": 1, "rules": [{"name": "mv_jvp_w", "positional": 2}, null]}})",
    .fix = "give the rule one parameter for each leading argument and each input",
    .severity = Severity::error,
    .inspects =
        "operator with per-input JVP rules, their parameters and the number of inputs stated",
    .needs = {Key::jvp, Key::rules, Key::inputs, Key::positional},
    .check = check,
};

}  // namespace opseal
