#include <string>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

bool is_bias_name(std::string_view name) {
  const std::string word = lower(name);
  // `bias_fn` is a function that is applied to a bias, no bias.
  return word == "b" || (word.find("bias") != word.npos && !word.ends_with("_fn"));
}

// Where the implementation says that it takes a bias, and which input that is (known only where it
// is a parameter).
struct BiasWitness {
  Fact where;
  std::uint32_t input = 0;
  bool input_known = false;
};

BiasWitness bias_witness(const Fact& op) {
  BiasWitness witness;
  std::uint32_t position = 0;
  for (const Fact parameter : op[Key::etp][Key::implementation][Key::parameters].items()) {
    if (is_bias_name(parameter.text())) return {parameter, position, true};
    ++position;
  }
  for (const Fact attribute : op[Key::attributes].items()) {
    if (is_bias_name(attribute[Key::name].text())) return {attribute[Key::name], 0, false};
  }
  return witness;
}

// A parameter with a bias's name, or one at the bias's place whatever it is called.
bool trains_bias(const Fact& trainables, const BiasWitness& witness) {
  for (const auto [parameter, index] : trainables.entries()) {
    if (is_bias_name(parameter.text())) return true;
    if (witness.input_known && index.is_count() && index.count() == witness.input) return true;
  }
  return false;
}

void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    const Fact etp = op[Key::etp];
    // The layout with a bias, which is the one that counts here.
    const Fact trainables = etp[Key::trainables];
    if (!etp || !trainables.is_map()) return;
    const BiasWitness witness = bias_witness(op);
    if (!witness.where.said()) return;
    const Fact x = etp[Key::x_index];
    if (witness.input_known && x.is_count() && x.count() == witness.input) return;
    sink.inspected();
    // Whoever wrote a layout of his own without the bias keeps it frozen on purpose.
    if (etp[Key::trainables_explicit].truth() || trains_bias(trainables, witness)) return;
    Finding& finding =
        sink.add(subject_of(manifest, op),
                 plural(trainables.size(), "trainable parameter") +
                     " and no bias, where the implementation takes " + quote(witness.where.text()),
                 evidence(trainables, "layout said here"));
    finding.related.push_back(evidence(witness.where, "bias taken here" + site_of(op)));
  });
}

}  // namespace

extern constinit const Rule etp_bias_dropped{
    .id = "etp-bias-dropped",
    .title = "implementation takes a bias that the layout of trainable parameters leaves out",
    .rationale =
        "An operator that is registered without a layout of its own gets the default one, a single "
        "weight at input 1. Its bias is then no parameter for online learning: the model trains, "
        "the weight moves, and the bias keeps its initial value for ever.",
    .example =
        R"({"name": "my_mm", "etp": {"trainables": {"weight": 1}, "trainables_explicit": false, "x_index": 0, "implementation": {"name": "impl", "parameters": ["x", "w", "b"]}}})",
    .fix = "register a layout that names the bias and its input",
    .severity = Severity::warning,
    .inspects = "eligibility-trace operator whose implementation is said to take a bias",
    .needs = {Key::etp, Key::trainables},
    .check = check,
};

}  // namespace opseal
