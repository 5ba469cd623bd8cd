#include <string>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/sources.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Operators have few attributes, and each is looked for in each rule.
constexpr std::uint32_t most_attributes = 256;

bool takes(const Fact& function, std::string_view name) {
  return list_has(function[Key::names], "**") || list_has(function[Key::names], name) ||
         list_has(function[Key::parameters], name);
}

class AttributeCheck {
 public:
  AttributeCheck(const Fact& manifest, const Fact& op, Sink& sink)
      : manifest_(manifest), op_(op), sink_(sink) {}

  void run() {
    const Fact attributes = op_[Key::attributes];
    if (!all_read(attributes) || attributes.size() == 0 || attributes.size() > most_attributes) {
      return;
    }
    look_at("abstract evaluation", op_[Key::abstract]);
    look_at("batching rule", op_[Key::batching][Key::function]);
    look_at("JVP rule", op_[Key::jvp][Key::function]);
    for (const Fact rule : op_[Key::jvp][Key::rules].items()) look_at("JVP rule", rule);
    look_at("transpose rule", op_[Key::transpose]);
    for (const Fact kernel : op_[Key::kernels].items()) {
      look_at("lowering", kernel[Key::function]);
    }
  }

 private:
  void look_at(std::string_view what, const Fact& function) {
    if (!function.present() || !all_read(function[Key::parameters])) return;
    // Who lists what is given by position alone says nothing of the rest.
    if (!is_of_sources(manifest_) && !function[Key::names].is_list()) return;
    sink_.inspected();
    for (const Fact attribute : op_[Key::attributes].items()) {
      const Fact name = attribute[Key::name];
      if (!name.is_text() || takes(function, name.text())) continue;
      Finding& finding = sink_.add(subject_of(manifest_, op_),
                                   std::string(what) + " " + function_text(function) +
                                       " has no parameter for attribute " + quote(name.text()),
                                   evidence(function[Key::parameters], "parameters of the rule"));
      finding.related.push_back(evidence(name, "handed over here" + site_of(op_)));
      return;
    }
  }

  const Fact& manifest_;
  const Fact& op_;
  Sink& sink_;
};

void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    if (manifest[Key::system].is("jax")) AttributeCheck(manifest, op, sink).run();
  });
}

}  // namespace

extern constinit const Rule attribute_untaken{
    .id = "attribute-untaken",
    .title = "rule of a primitive can't take an attribute that the primitive is bound with",
    .rationale =
        "What a primitive is bound with by name reaches each of its rules by that name. A rule "
        "that has no such parameter raises a `TypeError` about an unexpected argument, but only "
        "when it is asked for: the batching rule under `vmap`, the JVP under `grad`, the lowering "
        "on its platform. It happens when a call gets one more attribute and a rule is forgotten.",
    .example =
        R"({"opseal_manifest": 1, "system": "jax", "operators": [{"name": "spmv", "attributes": [{"name": "out_shape"}], )"
        R"("batching": {"kind": "custom", "function": {"name": "batch", "positional": 2, "parameters": ["args", "dims"], "names": []}}}]})",
    .fix = "give the rule a parameter of that name, or `**attributes`",
    .severity = Severity::error,
    .inspects = "rule of a primitive of JAX whose parameters and attributes are said",
    .needs = {Key::operators, Key::attributes},
    .check = check,
};

}  // namespace opseal
