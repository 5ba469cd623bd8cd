#include "analyzers/probe/framework_operators.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "opseal/dtypes.h"
#include "opseal/registration.h"
#include "opseal/text.h"

namespace opseal {
namespace {

using nlohmann::json;

// More are not called in one run.
constexpr std::size_t most_operators = 10000;

// A number that is no whole one by its type stays none.
bool is_real(std::string_view type) {
  const Dtype* dtype = find_dtype(type);
  return type.find("float") != std::string_view::npos || type == "double" ||
         (dtype != nullptr && dtype->kind == DtypeKind::floating);
}

json value_of(const Fact& value, std::string_view type) {
  if (value.is_text()) return std::string(value.text());
  if (value.is_truth()) return value.truth();
  if (value.is_null()) return nullptr;
  if (value.is_list()) {
    json list = json::array();
    for (const Fact one : value.items()) list.push_back(value_of(one, type));
    return list;
  }
  const double number = value.number();
  // Beyond 2^53 a manifest's numbers are no whole numbers any more.
  constexpr double most = 9007199254740992.0;
  const bool whole = !is_real(type) && number == std::floor(number) && std::fabs(number) < most;
  return whole ? json(static_cast<std::int64_t>(number)) : json(number);
}

// For each operand of the plan what the manifest says of it.
std::vector<Fact> facts_of(const Fact& operands) {
  std::vector<Fact> facts;
  for (const Fact operand : operands.items()) {
    facts.push_back(operand);
    if (operand[Key::variadic].truth()) facts.push_back(operand);
  }
  return facts;
}

json arguments_of(const FrameworkOperator& one, const PlannedCall& call) {
  const std::vector<Fact> facts = facts_of(one.op[Key::inputs]);
  const bool differentiable = one.op[Key::differentiable].truth(true);
  json list = json::array();
  for (std::size_t at = 0; at < call.question.arguments.size(); ++at) {
    if (std::ranges::find(call.absent, at) != call.absent.end()) continue;
    const ffi::QuestionOperand& operand = call.question.arguments[at];
    const Fact mutated = facts[at][Key::mutated];
    list.push_back(
        {{"name", one.calls.names[at]},
         {"dtype", call.dtypes[at]},
         {"shape", operand.dims},
         {"written", operand.written},
         {"read_only", mutated.is_truth() && !mutated.truth()},
         {"differentiable", differentiable && facts[at][Key::differentiable].truth(true)},
         {"indexes", operand.indexes}});
  }
  return list;
}

json results_of(const FrameworkOperator& one, const PlannedCall& call) {
  const std::size_t arguments = call.question.arguments.size();
  json list = json::array();
  for (std::size_t at = 0; at < call.question.results.size(); ++at) {
    list.push_back({{"dtype", call.dtypes[arguments + at]},
                    {"shape", call.question.results[at].dims},
                    {"stated", call.absent.empty() && one.calls.stated[at]}});
  }
  return list;
}

std::string plan_of(const FrameworkOperator& one, std::span<const std::string> imports,
                    std::uint32_t seed) {
  json attributes = json::array();
  for (const Fact attribute : one.op[Key::attributes].items()) {
    const std::string_view type = attribute[Key::type].text();
    attributes.push_back({{"name", std::string(attribute[Key::name].text())},
                          {"type", std::string(type)},
                          {"value", value_of(attribute[Key::value], type)}});
  }
  json calls = json::array();
  for (const PlannedCall& call : one.calls.calls) {
    // An argument behind one that is left out has to be handed over by name.
    const bool gap = !call.absent.empty() &&
                     call.absent.front() + call.absent.size() < call.question.arguments.size();
    calls.push_back({{"identity", call.identity},
                     {"inputs", arguments_of(one, call)},
                     {"outputs", results_of(one, call)},
                     {"gap", gap},
                     {"attributes", attributes}});
  }
  const json plan = {{"imports", imports},
                     {"seed", seed},
                     {"operator", {{"name", one.name}, {"calls", std::move(calls)}}}};
  // Names are any bytes.
  return plan.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool is_plain(const Fact& value) {
  return value.is_text() || value.is_truth() || value.is_number() || value.is_null();
}

// Why no call says what the framework hands over for an attribute; empty: all do.
std::string lacking_value(const Fact& op) {
  for (const Fact attribute : op[Key::attributes].items()) {
    const Fact value = attribute[Key::value];
    const std::string name = "attribute " + quote(attribute[Key::name].text());
    if (!value.said()) return name + " has no `value` to call with";
    bool plain = is_plain(value) || value.is_list();
    for (const Fact one : value.items()) plain = plain && is_plain(one);
    if (!plain) return name + " has a `value` that opseal can't hand over";
  }
  return {};
}

// A registry of thousands that says no shape is no list of what shall be called.
bool states_shapes(const Fact& op) {
  for (const Key side : {Key::inputs, Key::outputs}) {
    for (const Fact operand : op[side].items()) {
      if (operand[Key::shape].is_list()) return true;
    }
  }
  return false;
}

}  // namespace

// Who builds on JAX's primitives is called by JAX.
bool is_for_framework(std::string_view framework, std::string_view system) {
  const bool on_jax = system == "brainevent" || system == "braintrace";
  return system.empty() || system == framework || (framework == "jax" && on_jax);
}

std::span<const std::string_view> operator_row_names() {
  static constexpr std::array<std::string_view, 16> names{
      "operator", "declared-dtype", "result",   "fake", "layout",   "mutation",
      "written",  "overwritten",    "alias",    "jvp",  "jvp-zero", "narrow",
      "batch",    "transpose",      "gradient", "etp"};
  return names;
}

std::vector<FrameworkOperator> plan_framework_operators(const Facts& facts, std::string_view system,
                                                        std::span<const std::string> imports,
                                                        std::uint32_t seed) {
  std::vector<FrameworkOperator> operators;
  for (const Document& document : facts.documents) {
    if (document.settings) continue;
    const Fact manifest = facts.root(document);
    const std::string_view own = manifest[Key::system].text();
    for (const Fact op : manifest[Key::operators].items()) {
      if (!op[Key::name].is_text() || !states_shapes(op)) continue;
      if (operators.size() > most_operators) return operators;
      FrameworkOperator one;
      one.op = op;
      one.system = own;
      one.name = op[Key::name].text();
      if (op[Key::namespace_].is_text()) {
        one.name = std::string(op[Key::namespace_].text()) + "::" + one.name;
      }
      // What calls of another system are no framework knows.
      if (is_for_framework(system, own)) one.calls = plan_framework_calls(op, seed);
      std::string lacking = lacking_value(op);
      if (operators.size() == most_operators) {
        lacking = "more than " + std::to_string(most_operators) + " operators are not called";
      }
      if (!lacking.empty()) {
        one.calls.skipped = lacking;
        one.calls.calls.clear();
      }
      one.plan = plan_of(one, imports, seed);
      operators.push_back(std::move(one));
    }
  }
  return operators;
}

}  // namespace opseal
