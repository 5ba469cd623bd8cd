#include "analyzers/probe/derivative_plan.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "analyzers/probe/derivative_operands.h"
#include "opseal/registration.h"
#include "opseal/text.h"

namespace opseal {
namespace {

using Role = DerivativeOperand::Role;

// Of both operators together.
constexpr std::uint64_t most_case_elements = std::uint64_t{1} << 17;

// Of one kernel.
constexpr std::size_t most_cases = 32;

// Of the sizes of choices, those in which kernels are called for themselves, too.
constexpr std::size_t asked_sizes = 2;

// Kernels of the other operator that are looked at, and that are tried.
constexpr std::size_t most_kernels = 256;
constexpr std::size_t most_functions = 16;

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
    plan_.forward = is_forward(op());
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
  const Fact& op() const { return subjects_[derivative_].op; }
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
    for (const std::size_t subject : {derivative_, function_}) {
      const Fact relative = subjects_[subject].kernel[Key::precision][Key::max_relative];
      if (relative.is_number()) model_.relative = std::max(model_.relative, relative.number());
    }
    model_.derivative_outputs = outputs_of(own());
    model_.function_outputs = outputs_of(other());
    for (std::size_t at = 0; at < other().arguments; ++at) {
      model_.argument_names.push_back(name_of(other().operands[at], at, other().arguments));
    }
    for (const CallOutput& output : model_.function_outputs) {
      const std::size_t at = place_of(other(), output);
      model_.output_names.push_back(name_of(other().operands[at], at, other().arguments));
    }
    for (std::size_t at = 0; at < own().arguments; ++at) read_handed(at);
    bool tangents = false;
    bool cotangents = false;
    for (const CallOutput& output : model_.derivative_outputs) {
      const std::size_t at = place_of(own(), output);
      model_.given_names.push_back(name_of(own().operands[at], at, own().arguments));
      model_.given.push_back(read_given(output));
      tangents = tangents || model_.given.back().role == Role::tangent;
      cotangents = cotangents || model_.given.back().role == Role::cotangent;
    }
    for (const DerivativeOperand& one : model_.given) {
      const auto same = [&](const DerivativeOperand& other) {
        return one.role != Role::none && other.role == one.role && other.of == one.of;
      };
      if (std::count_if(model_.given.begin(), model_.given.end(), same) > 1) {
        skip("two of its results stand for one operand of " + other_name());
      }
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
    } else if (operand.cotangent_of.empty()) {
      handed = find_value(other(), model_.function_outputs, operand.name, is_forward(op()));
      if (handed.role == Role::none && !operand.written) {
        skip(shown +
             " has no `tangent_of` or `cotangent_of`, and its name is that of no operand of " +
             other_name());
      }
    }
    model_.handed.push_back(handed);
  }

  DerivativeOperand read_given(const CallOutput& output) {
    const std::size_t at = place_of(own(), output);
    const Operand& operand = own().operands[at];
    const std::string shown = name_of(operand, at, own().arguments);
    // What an argument was handed says nothing of what it becomes, but for a sum.
    if (output.argument && !is_sum(operand)) return {};
    if (!operand.tangent_of.empty()) {
      const auto found = find_output(other(), model_.function_outputs, operand.tangent_of);
      if (!found) skip(shown + " is the tangent of " + unknown(operand.tangent_of, "output"));
      return {Role::tangent, true, found.value_or(0)};
    }
    if (operand.cotangent_of.empty()) {
      const auto repeated = find_output(other(), model_.function_outputs, operand.name);
      // A gradient has other uses for a name.
      if (!repeated || output.argument || !is_forward(op())) return {};
      return {Role::value, true, *repeated};
    }
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
      const bool excused = !other().operands[at].differentiable || is_excused(at);
      (excused ? model_.excused : model_.along).push_back(at);
    }
  }

  // The derivative's own operand says that it is none of that input, on purpose.
  bool is_excused(std::size_t input) const {
    const std::string& name = other().operands[input].name;
    return std::any_of(own().operands.begin(), own().operands.end(), [&](const Operand& operand) {
      return !operand.differentiable &&
             (operand.tangent_of == name || operand.cotangent_of == name);
    });
  }

  template <typename Visit>
  void for_each_pair(Visit visit) const {
    const auto pair = [&](std::size_t at, const DerivativeOperand& operand) {
      if (operand.role == Role::none) return;
      visit(at,
            operand.output ? place_of(other(), model_.function_outputs[operand.of]) : operand.of);
    };
    for (std::size_t at = 0; at < model_.handed.size(); ++at) pair(at, model_.handed[at]);
    for (std::size_t at = 0; at < model_.given.size(); ++at) {
      pair(place_of(own(), model_.derivative_outputs[at]), model_.given[at]);
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
        for (std::size_t at = 0; at < other_.sizes.size(); ++at) {
          add_case(dtypes, others, other_.sizes[at], at >= asked_sizes);
        }
        break;
      }
    }
    if (!plan_.cases.empty()) {
      plan_.skipped.clear();
      if (too_many) skip("not all of its combinations of dtypes are asked for derivatives");
      if (too_large_) skip("not asked in all sizes: " + too_large());
    } else if (too_large_) {
      skip(too_large());
    } else if (!asked) {
      skip("derivatives are asked of f32 and f64, and " + other_name() + " declares no such call");
    } else {
      skip("none of its combinations of dtypes fits one of " + other_name());
    }
  }

  void add_case(const std::vector<std::string>& dtypes, const std::vector<std::string>& others,
                const std::vector<std::int64_t>& sizes, bool unasked) {
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
    one.unasked = unasked;
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
      too_large_ = true;
      return;
    }
    plan_.cases.push_back(std::move(one));
  }

  static std::string too_large() {
    return "calls with more than " + std::to_string(most_case_elements) +
           " elements are not held against differences";
  }

  // The extents of the derivative's names, by the operands that it shares with the function.
  std::optional<std::vector<std::int64_t>> unify(const PlannedCall& function) {
    BoundExtents bound(own().extents.size());
    bool same = true;
    for_each_pair([&](std::size_t at, std::size_t place) {
      const std::vector<std::int64_t>& dims = ffi::operand_at(function.question, place).dims;
      if (bind_extents(own().operands[at].shape, dims, bound)) return;
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
  bool too_large_ = false;
  DerivativePlan plan_;
};

}  // namespace

DerivativePlanner::DerivativePlanner(const std::vector<ProbeSubject>& subjects,
                                     const std::vector<bool>& usable)
    : subjects_(subjects), usable_(usable) {
  for (std::size_t at = 0; at < subjects.size(); ++at) {
    const ProbeSubject& subject = subjects[at];
    if (!subject.op.said()) continue;
    const auto add = [&](std::string_view name) {
      named_[std::string(name)].push_back(at);
      beside_[{std::string(name), subject.op.where().file}].push_back(at);
    };
    add(subject.name);
    const std::string_view plain = subject.op[Key::name].text();
    if (plain != subject.name) add(plain);
    const Fact gradient = subject.op[Key::gradient][Key::operator_];
    if (gradient.is_text()) gradients_.try_emplace(std::string(gradient.text()), subject.name);
  }
}

std::string DerivativePlanner::function_of(std::size_t at) const {
  const ProbeSubject& subject = subjects_[at];
  if (!subject.op.said()) return {};
  const std::string_view stated = subject.op[Key::derivative_of].text();
  if (!stated.empty()) return std::string(stated);
  for (const std::string_view own :
       {std::string_view(subject.name), subject.op[Key::name].text()}) {
    const auto known = gradients_.find(own);
    if (known != gradients_.end()) return known->second;
  }
  return {};
}

std::vector<std::size_t> DerivativePlanner::kernels_of(std::size_t at,
                                                       std::string_view function) const {
  const Fact own = subjects_[at].op;
  const std::uint32_t file = own.where().file;
  std::vector<std::size_t> kernels;
  const auto add = [&](const std::vector<std::size_t>& named, bool beside) {
    for (const std::size_t other : named) {
      if (kernels.size() >= most_kernels) return;
      const Fact op = subjects_[other].op;
      if (!(op == own) && (beside || op.where().file != file)) kernels.push_back(other);
    }
  };
  const auto beside = beside_.find({std::string(function), file});
  if (beside != beside_.end()) add(beside->second, true);
  const std::string_view backend = subjects_[at].kernel[Key::backend].text();
  const auto put_own_backend_first = [&](std::size_t begin) {
    std::stable_partition(
        kernels.begin() + static_cast<std::ptrdiff_t>(begin), kernels.end(),
        [&](std::size_t other) { return subjects_[other].kernel[Key::backend].text() == backend; });
  };
  put_own_backend_first(0);
  const std::size_t others = kernels.size();
  const auto named = named_.find(function);
  if (named != named_.end()) add(named->second, false);
  put_own_backend_first(others);
  return kernels;
}

bool DerivativePlanner::can_call(std::size_t at) const {
  const ProbeSubject& subject = subjects_[at];
  return usable_[at] && subject.skipped.empty() && subject.calls_skipped.empty();
}

bool DerivativePlanner::is_handed_results(std::size_t at) const {
  const std::string name = function_of(at);
  if (name.empty()) return false;
  const std::vector<std::size_t> kernels = kernels_of(at, name);
  const Fact function = kernels.empty() ? Fact() : subjects_[kernels.front()].op;
  for (const Fact operand : subjects_[at].op[Key::inputs].items()) {
    if (operand[Key::tangent_of].is_text() || operand[Key::cotangent_of].is_text()) continue;
    bool input = false;
    for (const Fact one : function[Key::inputs].items()) {
      input = input ||
              (one[Key::name].text() == operand[Key::name].text() && !one[Key::mutated].truth());
    }
    if (!input && !operand[Key::mutated].truth()) return true;
  }
  return false;
}

DerivativePlan DerivativePlanner::plan(std::size_t at) const {
  DerivativePlan plan;
  plan.forward = is_forward(subjects_[at].op);
  const std::string name = function_of(at);
  if (name.empty()) {
    plan.skipped =
        "its operands are tangents or cotangents, and nobody says of which operator "
        "(`derivative_of`)";
    return plan;
  }
  const std::vector<std::size_t> kernels = kernels_of(at, name);
  if (!kernels.empty() && is_handed_results(kernels.front())) {
    plan.skipped = handed_results_reason(name);
    return plan;
  }
  std::size_t tried = 0;
  std::set<std::string> planned;
  for (const std::size_t kernel : kernels) {
    if (!can_call(kernel)) continue;
    if (++tried > most_functions) break;
    DerivativePlan more = CasePlanner(subjects_, at, kernel).plan();
    // One kernel may be for one dtype, and the next one for another.
    for (DerivativeCase& one : more.cases) {
      if (plan.cases.size() >= most_cases) break;
      if (planned.insert(one.derivative_call.identity).second) {
        plan.cases.push_back(std::move(one));
      }
    }
    if (plan.skipped.empty()) plan.skipped = more.skipped;
    plan.forward = more.forward;
  }
  // What one kernel doesn't serve another one does.
  if (tried > 1 && !plan.cases.empty()) plan.skipped.clear();
  if (tried > 0) return plan;
  if (!kernels.empty()) {
    plan.skipped = "no kernel of " + quote(name) + " can be called here, or each has crashed";
  } else if (named_.contains(name)) {
    plan.skipped = "its `derivative_of` is the operator itself";
  } else {
    plan.skipped =
        "no input has an operator " + quote(name) + " with a kernel that could be called";
  }
  return plan;
}

}  // namespace opseal
