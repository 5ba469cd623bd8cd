#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/schema_text.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Unread parameters are often marked by an underscore.
std::string_view plain_name(std::string_view name) {
  while (name.starts_with('_')) name.remove_prefix(1);
  while (name.ends_with('_')) name.remove_suffix(1);
  return name;
}

struct Exchange {
  std::string_view taken;
  std::string_view passed;
};

// The first argument that arrives in the parameter of another one, while that one arrives in its
// own, or while all names are the same: two words for one thing are never that.
class Order {
 public:
  explicit Order(const OperatorSchema& schema) : schema_(schema) {}

  std::optional<Exchange> exchanged(const Fact& parameters, bool by_name) const {
    std::vector<std::string_view> passed;
    for (const SchemaOperand& input : schema_.inputs) {
      if (!by_name || !input.keyword_only) passed.push_back(plain_name(input.name));
    }
    if (parameters.size() < passed.size()) return {};
    std::unordered_map<std::string_view, std::size_t> place_of;
    for (std::size_t at = 0; at < passed.size(); ++at) {
      // Schemas that were made from a C++ signature call their arguments `_0`, `_1`.
      if (passed[at].empty() || !place_of.emplace(passed[at], at).second) return {};
    }
    std::vector<std::string_view> taken;
    for (const Fact parameter : parameters.items()) {
      if (taken.size() < passed.size()) taken.push_back(plain_name(parameter.text()));
    }
    const bool all_known =
        std::all_of(taken.begin(), taken.end(),
                    [&place_of](std::string_view name) { return place_of.contains(name); });
    for (std::size_t at = 0; at < taken.size(); ++at) {
      const auto own = place_of.find(taken[at]);
      if (own == place_of.end() || own->second == at) continue;
      if (all_known || taken[own->second] == passed[at]) return Exchange{taken[at], passed[at]};
    }
    return {};
  }

 private:
  const OperatorSchema& schema_;
};

class OrderCheck {
 public:
  explicit OrderCheck(Sink& sink) : sink_(&sink) {}

  void look_at(const Fact& manifest, const Fact& op) {
    const Fact text = op[Key::schema];
    if (!text.is_text()) return;
    std::optional<OperatorSchema> schema;
    const auto judge = [&](const Fact& function, bool by_name, std::string_view what) {
      if (!all_read(function[Key::parameters])) return;
      if (!schema) schema = read_schema(text);
      if (!schema || schema->more_inputs) return;
      judge_function(manifest, op, *schema, function, by_name, what);
    };
    for (const Fact kernel : op[Key::kernels].items()) {
      const bool by_name = !kernel[Key::native_signature].is_text();
      judge(kernel[Key::function], by_name, "kernel on " + decision_text(kernel));
    }
    const Fact abstract = op[Key::abstract];
    const Fact kind = abstract[Key::kind];
    if (!kind.is("decomposition") && !kind.is("composite")) judge(abstract, true, "shape function");
  }

 private:
  void judge_function(const Fact& manifest, const Fact& op, const OperatorSchema& schema,
                      const Fact& function, bool by_name, std::string_view what) {
    sink_->inspected();
    const std::optional<Exchange> found =
        Order(schema).exchanged(function[Key::parameters], by_name);
    if (!found) return;
    Finding& finding =
        sink_->add(subject_of(manifest, op),
                   std::string(what) + " takes in its parameter " + quote(found->taken) +
                       " what the schema passes as " + quote(found->passed),
                   evidence(function, "parameters of " + function_text(function)));
    finding.related.push_back(evidence(op[Key::schema], "the schema" + site_of(op)));
  }

  Sink* sink_;
};

void check(const Facts& facts, Sink& sink) {
  OrderCheck order(sink);
  for_each_operator(
      facts, [&order](const Fact& manifest, const Fact& op) { order.look_at(manifest, op); });
}

}  // namespace

extern constinit const Rule argument_order{
    .id = "argument-order",
    .title = "function has the names of the schema's arguments in another order",
    .rationale =
        "A registry hands arguments over by their place, whatever their names. This function has "
        "the names of the schema at other places, so that it works with one argument where it "
        "means another. Types are equal, so that nothing is refused: a kernel computes wrong "
        "numbers, a shape function tells the compiler the shape of the wrong tensor.",
    .example =
        R"({"name": "lib::mix", "schema": "lib::mix(Tensor x, Tensor weight, Tensor bias) -> Tensor", "abstract": {"name": "mix_fake", "parameters": ["x", "bias", "weight"]}})",
    .fix = "give the function the parameters of the schema in the same order",
    .severity = Severity::error,
    .inspects = "function with named parameters, of an operator with a schema",
    .needs = {Key::operators, Key::schema, Key::parameters},
    .check = check,
};

}  // namespace opseal
