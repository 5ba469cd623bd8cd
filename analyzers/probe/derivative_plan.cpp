#include "analyzers/probe/derivative_plan.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "opseal/registration.h"
#include "opseal/text.h"

namespace opseal {
namespace {

using Role = DerivativeOperand::Role;

// Of both operators together: numbers of derivatives are made one by one.
constexpr std::uint64_t most_case_elements = 4096;

// Of one kernel.
constexpr std::size_t most_cases = 32;

// Kernels of the other operator that are tried.
constexpr std::size_t most_functions = 16;

std::vector<CallOutput> outputs_of(const Declaration& declaration) {
  std::vector<CallOutput> outputs;
  const auto begin = declaration.operands.begin();
  const auto results = begin + static_cast<std::ptrdiff_t>(declaration.arguments);
  for (std::size_t at = declaration.arguments; at < declaration.operands.size(); ++at) {
    outputs.push_back({false, at - declaration.arguments});
  }
  for (std::size_t at = 0; at < declaration.arguments; ++at) {
    const Operand& operand = declaration.operands[at];
    // A result with its memory is what it becomes.
    const bool shared = !operand.alias.empty() &&
                        std::any_of(results, declaration.operands.end(),
                                    [&](const Operand& one) { return one.alias == operand.alias; });
    if (operand.written && !shared) outputs.push_back({true, at});
  }
  return outputs;
}

const Operand& operand_of(const Declaration& declaration, const CallOutput& output) {
  return declaration
      .operands[output.argument ? output.number : declaration.arguments + output.number];
}

// Of the declaration's arguments.
std::optional<std::size_t> find_argument(const Declaration& declaration, std::string_view name) {
  for (std::size_t at = 0; at < declaration.arguments; ++at) {
    if (declaration.operands[at].name == name) return at;
  }
  return {};
}

std::optional<std::size_t> find_output(const Declaration& declaration,
                                       const std::vector<CallOutput>& outputs,
                                       std::string_view name) {
  for (std::size_t at = 0; at < outputs.size(); ++at) {
    if (operand_of(declaration, outputs[at]).name == name) return at;
  }
  return {};
}

// Tangents come out, or, where nothing is said of results, go in.
bool is_forward(const Fact& op) {
  for (const Key side : {Key::outputs, Key::inputs}) {
    for (const Fact operand : op[side].items()) {
      if (operand[Key::tangent_of].is_text()) return true;
      if (operand[Key::cotangent_of].is_text()) return false;
    }
  }
  return false;
}

bool is_same_value(const Fact& one, const Fact& other) {
  if (!one.is_list() || !other.is_list()) {
    return one.is_list() == other.is_list() && one.text() == other.text() &&
           one.number() == other.number() && one.truth() == other.truth();
  }
  std::vector<Fact> values;
  for (const Fact value : one.items()) values.push_back(value);
  std::size_t at = 0;
  for (const Fact value : other.items()) {
    if (at == values.size() || !is_same_value(values[at++], value)) return false;
  }
  return at == values.size();
}

// "`alpha`", where both operators state it, with different values.
std::string other_attribute(const Fact& one, const Fact& other) {
  for (const Fact attribute : one[Key::attributes].items()) {
    for (const Fact twin : other[Key::attributes].items()) {
      if (twin[Key::name].text() != attribute[Key::name].text()) continue;
      if (!is_same_value(attribute[Key::value], twin[Key::value])) {
        return quote(attribute[Key::name].text());
      }
    }
  }
  return {};
}

class CasePlanner {
 public:
  CasePlanner(const std::vector<ProbeSubject>& subjects, std::size_t derivative,
              std::size_t function)
      : subjects_(subjects),
        derivative_(derivative),
        function_(function),
        own_(call_choices(subjects[derivative])),
        other_(call_choices(subjects[function])) {}

  DerivativePlan plan() {
    plan_.forward = is_forward(subjects_[derivative_].op);
    // Combinations that are too many leave the others.
    if (own_.dtypes.empty() || other_.dtypes.empty()) {
      const bool own = own_.dtypes.empty();
      skip((own ? std::string() : other_name() + " can't be called: ") +
           (own ? own_.skipped : other_.skipped));
      return std::move(plan_);
    }
    const std::string attribute =
        other_attribute(subjects_[derivative_].op, subjects_[function_].op);
    if (!attribute.empty()) {
      skip("its attribute " + attribute + " has another value than that of " + other_name());
    }
    read_roles();
    if (plan_.skipped.empty()) add_cases();
    return std::move(plan_);
  }

 private:
  const Declaration& own() const { return own_.declaration; }
  const Declaration& other() const { return other_.declaration; }
  std::string other_name() const { return quote(subjects_[function_].name); }

  void skip(std::string why) {
    if (plan_.skipped.empty()) plan_.skipped = std::move(why);
  }

  // "`x`, which is no input of `axpy`"
  std::string unknown(const std::string& name, const char* what) const {
    return quote(name) + ", which is no " + what + " of " + other_name();
  }

  void read_roles() {
    model_.derivative = derivative_;
    model_.function = function_;
    model_.derivative_outputs = outputs_of(own());
    model_.function_outputs = outputs_of(other());
    for (std::size_t at = 0; at < other().arguments; ++at) {
      model_.argument_names.push_back(name_of(other().operands[at], at, other().arguments));
    }
    for (const CallOutput& output : model_.function_outputs) {
      const std::size_t at = output.argument ? output.number : other().arguments + output.number;
      model_.output_names.push_back(name_of(other().operands[at], at, other().arguments));
    }
    for (std::size_t at = 0; at < own().arguments; ++at) read_handed(at);
    bool tangents = false;
    bool cotangents = false;
    for (const CallOutput& output : model_.derivative_outputs) {
      model_.given.push_back(read_given(output));
      tangents = tangents || model_.given.back().role == Role::tangent;
      cotangents = cotangents || model_.given.back().role == Role::cotangent;
    }
    if (tangents && cotangents) skip("it gives tangents and cotangents: one is asked at a time");
    if (!tangents && !cotangents) {
      skip("no result is stated to be a tangent (`tangent_of`) or a gradient (`cotangent_of`)");
    }
    plan_.forward = tangents;
    const Role wanted = plan_.forward ? Role::tangent : Role::cotangent;
    const bool any = std::any_of(model_.handed.begin(), model_.handed.end(),
                                 [&](const DerivativeOperand& one) { return one.role == wanted; });
    if (!any) {
      skip(plan_.forward ? "it is handed no tangent (`tangent_of`)"
                         : "it is handed no cotangent (`cotangent_of`) of a result");
    }
    choose_inputs();
  }

  // An argument that is written and stands for the gradient of an input is a sum, and begins at 0.
  bool is_sum(const Operand& operand) const {
    return operand.written && !operand.cotangent_of.empty() &&
           !find_output(other(), model_.function_outputs, operand.cotangent_of) &&
           find_argument(other(), operand.cotangent_of);
  }

  void read_handed(std::size_t at) {
    const Operand& operand = own().operands[at];
    const std::string shown = name_of(operand, at, own().arguments);
    DerivativeOperand handed;
    if (!operand.tangent_of.empty()) {
      const auto input = find_argument(other(), operand.tangent_of);
      if (!input) skip(shown + " is the tangent of " + unknown(operand.tangent_of, "input"));
      handed = {Role::tangent, false, input.value_or(0)};
    } else if (!operand.cotangent_of.empty() && !is_sum(operand)) {
      const auto output = find_output(other(), model_.function_outputs, operand.cotangent_of);
      if (!output) skip(shown + " is the cotangent of " + unknown(operand.cotangent_of, "output"));
      handed = {Role::cotangent, true, output.value_or(0)};
    } else if (const auto input = find_argument(other(), operand.name);
               input && operand.cotangent_of.empty()) {
      handed = {Role::value, false, *input};
    } else if (const auto output = find_output(other(), model_.function_outputs, operand.name);
               output && operand.cotangent_of.empty()) {
      handed = {Role::value, true, *output};
    } else if (!operand.written) {
      skip(shown +
           " has no `tangent_of` or `cotangent_of`, and its name is that of no operand of " +
           other_name());
    }
    model_.handed.push_back(handed);
  }

  DerivativeOperand read_given(const CallOutput& output) {
    const Operand& operand = operand_of(own(), output);
    const std::size_t at = output.argument ? output.number : own().arguments + output.number;
    const std::string shown = name_of(operand, at, own().arguments);
    // What an argument was handed says nothing of what it becomes, but for a sum.
    if (output.argument && !is_sum(operand)) return {};
    if (!operand.tangent_of.empty()) {
      const auto found = find_output(other(), model_.function_outputs, operand.tangent_of);
      if (!found) skip(shown + " is the tangent of " + unknown(operand.tangent_of, "output"));
      return {Role::tangent, true, found.value_or(0)};
    }
    if (operand.cotangent_of.empty()) return {};
    const auto found = find_argument(other(), operand.cotangent_of);
    if (!found) skip(shown + " is the cotangent of " + unknown(operand.cotangent_of, "input"));
    return {Role::cotangent, false, found.value_or(0)};
  }

  // Inputs for which there is a tangent to hand over, or a gradient that comes back.
  void choose_inputs() {
    const std::vector<DerivativeOperand>& side = plan_.forward ? model_.handed : model_.given;
    const Role wanted = plan_.forward ? Role::tangent : Role::cotangent;
    for (std::size_t at = 0; at < other().arguments; ++at) {
      const bool has = std::any_of(side.begin(), side.end(), [&](const DerivativeOperand& one) {
        return one.role == wanted && !one.output && one.of == at;
      });
      if (!has) continue;
      (other().operands[at].differentiable ? model_.along : model_.excused).push_back(at);
    }
  }

  // Dtypes of the operand of the function that one stands for.
  static std::size_t place_of(const DerivativeOperand& operand, const Declaration& other,
                              const std::vector<CallOutput>& outputs) {
    if (!operand.output) return operand.of;
    const CallOutput& output = outputs[operand.of];
    return output.argument ? output.number : other.arguments + output.number;
  }

  template <typename Visit>
  void for_each_pair(Visit visit) const {
    const auto pair = [&](std::size_t at, const DerivativeOperand& operand) {
      if (operand.role == Role::none) return;
      visit(at, place_of(operand, other(), model_.function_outputs));
    };
    for (std::size_t at = 0; at < model_.handed.size(); ++at) pair(at, model_.handed[at]);
    for (std::size_t at = 0; at < model_.given.size(); ++at) {
      const CallOutput& output = model_.derivative_outputs[at];
      pair(output.argument ? output.number : own().arguments + output.number, model_.given[at]);
    }
  }

  static bool is_asked(const std::vector<std::string>& dtypes) {
    bool any = false;
    for (const std::string& word : dtypes) {
      const ffi::DtypeInfo* dtype = ffi_dtype(word);
      if (dtype == nullptr) return false;
      const std::string_view known = dtype->word;
      if (known.starts_with('c') || known == "f16" || known == "bf16" || known.starts_with("f8") ||
          known.starts_with("f4")) {
        return false;
      }
      any = any || known == "f32" || known == "f64";
    }
    return any;
  }

  bool fits(const std::vector<std::string>& dtypes, const std::vector<std::string>& others) const {
    bool same = true;
    for_each_pair([&](std::size_t at, std::size_t place) {
      same = same && ffi_dtype(dtypes[at]) == ffi_dtype(others[place]);
    });
    return same;
  }

  void add_cases() {
    bool asked = false;
    bool too_many = false;
    for (const std::vector<std::string>& others : other_.dtypes) {
      if (!is_asked(others)) continue;
      asked = true;
      too_many = plan_.cases.size() >= most_cases;
      if (too_many) break;
      for (const std::vector<std::string>& dtypes : own_.dtypes) {
        if (!is_asked(dtypes) || !fits(dtypes, others)) continue;
        for (const auto& sizes : other_.sizes) add_case(dtypes, others, sizes);
        break;
      }
    }
    if (!plan_.cases.empty()) {
      plan_.skipped.clear();
      if (too_many) skip("not all of its combinations of dtypes are asked for derivatives");
    } else if (!asked) {
      skip("derivatives are asked of f32 and f64, and " + other_name() + " declares no such call");
    } else {
      skip("none of its combinations of dtypes fits one of " + other_name());
    }
  }

  void add_case(const std::vector<std::string>& dtypes, const std::vector<std::string>& others,
                const std::vector<std::int64_t>& sizes) {
    CallPlan function = plan_call(subjects_[function_], others, sizes);
    if (function.calls.empty()) {
      skip(other_name() + " can't be called: " + function.skipped);
      return;
    }
    const std::optional<std::vector<std::int64_t>> own_sizes = unify(function.calls.front());
    if (!own_sizes) return;
    CallPlan derivative = plan_call(subjects_[derivative_], dtypes, *own_sizes);
    if (derivative.calls.empty()) {
      skip(derivative.skipped);
      return;
    }
    DerivativeCase one = model_;
    one.function_call = std::move(function.calls.front());
    one.derivative_call = std::move(derivative.calls.front());
    std::uint64_t elements = 0;
    for (const PlannedCall* call : {&one.function_call, &one.derivative_call}) {
      for (const auto* side : {&call->question.arguments, &call->question.results}) {
        for (const ffi::QuestionOperand& operand : *side) {
          std::uint64_t product = 1;
          for (const std::int64_t extent : operand.dims) {
            product *= static_cast<std::uint64_t>(extent);
          }
          elements += product;
        }
      }
    }
    if (elements > most_case_elements) {
      skip("its calls have more than " + std::to_string(most_case_elements) + " elements");
      return;
    }
    plan_.cases.push_back(std::move(one));
  }

  // The extents of the derivative's names, by the operands that it shares with the function.
  std::optional<std::vector<std::int64_t>> unify(const PlannedCall& function) {
    std::vector<std::optional<std::int64_t>> bound(own().extents.size());
    bool same = true;
    for_each_pair([&](std::size_t at, std::size_t place) {
      const std::vector<ffi::QuestionOperand>& arguments = function.question.arguments;
      const std::vector<std::int64_t>& dims =
          place < arguments.size() ? arguments[place].dims
                                   : function.question.results[place - arguments.size()].dims;
      const std::vector<Extent>& shape = own().operands[at].shape;
      bool fits = shape.size() == dims.size();
      for (std::size_t axis = 0; fits && axis < dims.size(); ++axis) {
        if (!shape[axis].name) {
          fits = shape[axis].number == dims[axis];
          continue;
        }
        std::optional<std::int64_t>& extent = bound[*shape[axis].name];
        fits = extent.value_or(dims[axis]) == dims[axis];
        extent = dims[axis];
      }
      if (fits) return;
      same = false;
      const Operand& twin = other().operands[place];
      skip(name_of(own().operands[at], at, own().arguments) + " hasn't the shape of " +
           name_of(twin, place, other().arguments) + " of " + other_name());
    });
    if (!same) return {};
    std::vector<std::int64_t> sizes;
    for (std::size_t at = 0; at < bound.size(); ++at) {
      if (!bound[at]) {
        skip("no operand of " + other_name() + " says how large extent " +
             quote(own().extents[at]) + " is");
        return {};
      }
      sizes.push_back(*bound[at]);
    }
    return sizes;
  }

  const std::vector<ProbeSubject>& subjects_;
  std::size_t derivative_;
  std::size_t function_;
  CallChoices own_;
  CallChoices other_;
  // Of all cases alike.
  DerivativeCase model_;
  DerivativePlan plan_;
};

}  // namespace

bool computes_derivatives(const Fact& op) {
  if (op[Key::derivative_of].is_text()) return true;
  for (const Key side : {Key::inputs, Key::outputs}) {
    for (const Fact operand : op[side].items()) {
      if (operand[Key::tangent_of].is_text() || operand[Key::cotangent_of].is_text()) return true;
    }
  }
  return false;
}

DerivativePlanner::DerivativePlanner(const std::vector<ProbeSubject>& subjects,
                                     const std::vector<bool>& usable)
    : subjects_(subjects), usable_(usable) {
  for (std::size_t at = 0; at < subjects.size(); ++at) {
    const ProbeSubject& subject = subjects[at];
    if (!subject.op.said()) continue;
    named_[subject.name].push_back(at);
    const std::string_view plain = subject.op[Key::name].text();
    if (plain != subject.name) named_[std::string(plain)].push_back(at);
    const Fact gradient = subject.op[Key::gradient][Key::operator_];
    if (gradient.is_text()) gradients_.try_emplace(std::string(gradient.text()), subject.name);
  }
}

DerivativePlan DerivativePlanner::plan(std::size_t at) const {
  DerivativePlan plan;
  const ProbeSubject& subject = subjects_[at];
  plan.forward = is_forward(subject.op);
  std::string name(subject.op[Key::derivative_of].text());
  for (const std::string_view own :
       {std::string_view(subject.name), subject.op[Key::name].text()}) {
    const auto known = gradients_.find(own);
    if (name.empty() && known != gradients_.end()) name = known->second;
  }
  if (name.empty()) {
    plan.skipped =
        "its operands are tangents or cotangents, and nobody says of which operator "
        "(`derivative_of`)";
    return plan;
  }
  plan.skipped = "no kernel of " + quote(name) + " can be called here";
  const auto functions = named_.find(name);
  if (functions == named_.end()) return plan;
  // Operators of the same manifest first.
  const std::uint32_t file = subject.op.where().file;
  std::size_t tried = 0;
  for (const bool beside : {true, false}) {
    for (const std::size_t other : functions->second) {
      const ProbeSubject& function = subjects_[other];
      if (function.op == subject.op || !usable_[other]) continue;
      if ((function.op.where().file == file) != beside) continue;
      if (!function.skipped.empty() || !function.calls_skipped.empty()) continue;
      if (++tried > most_functions) return plan;
      plan = CasePlanner(subjects_, at, other).plan();
      if (!plan.cases.empty()) return plan;
    }
  }
  return plan;
}

}  // namespace opseal
