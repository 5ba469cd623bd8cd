#include "analyzers/probe/framework_operators.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "opseal/registration.h"
#include "opseal/text.h"

namespace opseal {
namespace {

using nlohmann::json;

// More are not called in one run.
constexpr std::size_t most_operators = 10000;

json value_of(const Fact& attribute) {
  const Fact value = attribute[Key::value];
  if (value.is_text()) return std::string(value.text());
  if (value.is_truth()) return value.truth();
  if (value.is_null()) return nullptr;
  const double number = value.number();
  // Beyond 2^53 a manifest's numbers are no whole numbers any more.
  constexpr double most = 9007199254740992.0;
  const bool real = attribute[Key::type].text().find("float") != std::string_view::npos;
  const bool whole = !real && number == std::floor(number) && std::fabs(number) < most;
  return whole ? json(static_cast<std::int64_t>(number)) : json(number);
}

json operands_of(const CallPlan& plan, const PlannedCall& call, bool results) {
  json list = json::array();
  const std::size_t arguments = call.question.arguments.size();
  const auto& operands = results ? call.question.results : call.question.arguments;
  for (std::size_t at = 0; at < operands.size(); ++at) {
    const std::size_t number = results ? arguments + at : at;
    list.push_back({{"name", plan.names[number]},
                    {"dtype", call.dtypes[number]},
                    {"shape", operands[at].dims},
                    {"written", operands[at].written},
                    {"indexes", operands[at].indexes}});
  }
  return list;
}

std::string plan_of(const FrameworkOperator& one, std::span<const std::string> imports,
                    std::uint32_t seed) {
  json attributes = json::array();
  for (const Fact attribute : one.op[Key::attributes].items()) {
    attributes.push_back({{"name", std::string(attribute[Key::name].text())},
                          {"type", std::string(attribute[Key::type].text())},
                          {"value", value_of(attribute)}});
  }
  json calls = json::array();
  for (const PlannedCall& call : one.calls.calls) {
    calls.push_back({{"identity", call.identity},
                     {"inputs", operands_of(one.calls, call, false)},
                     {"outputs", operands_of(one.calls, call, true)},
                     {"attributes", attributes}});
  }
  const json plan = {{"imports", imports},
                     {"seed", seed},
                     {"operator", {{"name", one.name}, {"calls", std::move(calls)}}}};
  // Names are any bytes.
  return plan.dump(-1, ' ', false, json::error_handler_t::replace);
}

// Why no call says what the framework hands over for an attribute; empty: all do.
std::string lacking_value(const Fact& op) {
  for (const Fact attribute : op[Key::attributes].items()) {
    const Fact value = attribute[Key::value];
    const bool plain = value.is_text() || value.is_truth() || value.is_number() || value.is_null();
    if (!plain) {
      return "attribute " + quote(attribute[Key::name].text()) + " has no `value` to call with";
    }
  }
  return {};
}

// Who builds on JAX's primitives is called by JAX.
bool is_for(std::string_view system, const Fact& own) {
  const bool on_jax = own.is("brainevent") || own.is("braintrace");
  return !own.is_text() || own.is(system) || (system == "jax" && on_jax);
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

std::span<const std::string_view> operator_row_names() {
  static constexpr std::array<std::string_view, 10> names{
      "operator", "declared-dtype", "fake",     "mutation", "alias",
      "jvp",      "transpose",      "gradient", "batch",    "etp"};
  return names;
}

std::vector<FrameworkOperator> plan_framework_operators(const Facts& facts, std::string_view system,
                                                        std::span<const std::string> imports,
                                                        std::uint32_t seed) {
  std::vector<FrameworkOperator> operators;
  for (const Document& document : facts.documents) {
    if (document.settings) continue;
    const Fact manifest = facts.root(document);
    if (!is_for(system, manifest[Key::system])) continue;
    for (const Fact op : manifest[Key::operators].items()) {
      if (!op[Key::name].is_text() || !states_shapes(op)) continue;
      if (operators.size() == most_operators) return operators;
      FrameworkOperator one;
      one.op = op;
      one.name = op[Key::name].text();
      if (op[Key::namespace_].is_text()) {
        one.name = std::string(op[Key::namespace_].text()) + "::" + one.name;
      }
      one.calls = plan_framework_calls(op, seed);
      const std::string lacking = lacking_value(op);
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
