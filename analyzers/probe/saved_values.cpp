#include "analyzers/probe/saved_values.h"

#include <algorithm>
#include <span>
#include <utility>

#include "analyzers/probe/values.h"
#include "opseal/text.h"

namespace opseal {
namespace {

using Role = DerivativeOperand::Role;

// Kernels of the operator that are tried.
constexpr std::size_t most_functions = 16;

// Of all operands of a call whose numbers are handed on.
constexpr std::size_t most_bytes = std::size_t{1} << 20;

std::string made_up(const ffi::QuestionOperand& operand, std::uint64_t seed) {
  const ffi::DtypeInfo* dtype = ffi::find_dtype_number(operand.dtype);
  std::string made(ffi::size_of(operand), '\0');
  if (!made.empty() && !operand.indexes) {
    fill_values({reinterpret_cast<unsigned char*>(made.data()), made.size()}, *dtype, seed);
  }
  return made;
}

// "`rstd`": no tangent, no cotangent, and nothing whose tangent or cotangent another one is.
std::string unsaid_operand(const Declaration& own) {
  for (std::size_t at = 0; at < own.arguments; ++at) {
    const Operand& operand = own.operands[at];
    if (operand.written || !operand.tangent_of.empty() || !operand.cotangent_of.empty()) continue;
    const bool known =
        std::any_of(own.operands.begin(), own.operands.end(), [&](const Operand& one) {
          const bool result = &one >= own.operands.data() + own.arguments;
          return (result && one.cotangent_of == operand.name) ||
                 (!result && one.tangent_of == operand.name);
        });
    if (!known) return name_of(operand, at, own.arguments);
  }
  return {};
}

}  // namespace

const SavedValues::Model& SavedValues::model_of(std::size_t subject) {
  const auto known = models_.find(subject);
  if (known != models_.end()) return known->second;
  return models_.emplace(subject, read_model(subject)).first->second;
}

SavedValues::Model SavedValues::read_model(std::size_t subject) const {
  Model model;
  const std::string name = planner_.function_of(subject);
  const Fact op = subjects_[subject].op;
  if (name.empty() && !computes_derivatives(op)) return model;
  model.own = call_choices(subjects_[subject]).declaration;
  const std::vector<std::size_t> kernels = planner_.kernels_of(subject, name);
  if (kernels.empty()) {
    const std::string unsaid = unsaid_operand(model.own);
    if (!computes_derivatives(op) || unsaid.empty()) return model;
    model.saves = true;
    model.skipped = "nobody says whether " + unsaid + " is an input of " +
                    (name.empty() ? std::string("its operator") : quote(name)) +
                    " or a result that it saves";
    return model;
  }
  if (planner_.is_handed_results(kernels.front())) {
    model.saves = true;
    model.skipped = handed_results_reason(name);
    return model;
  }
  for (const std::size_t kernel : kernels) {
    if (!planner_.can_call(kernel)) continue;
    if (model.functions.size() >= most_functions) break;
    model.functions.push_back(read_function(subject, model.own, kernel));
  }
  const auto saves = [](const Function& function) {
    return std::any_of(function.handed.begin(), function.handed.end(),
                       [](const DerivativeOperand& one) { return one.output; });
  };
  // One that can't be called still says what its operands are.
  const Function stated = model.functions.empty()
                              ? read_function(subject, model.own, kernels.front())
                              : model.functions.front();
  model.saves = saves(stated);
  if (model.functions.empty()) {
    model.skipped = "no kernel of " + quote(name) + ", whose results it is handed, can be called";
  }
  const std::string attribute = other_attribute(op, subjects_[stated.subject].op);
  if (!attribute.empty()) {
    model.skipped = "its attribute " + attribute + " has another value than that of " +
                    quote(subjects_[stated.subject].name) + ", whose results it is handed";
  }
  return model;
}

SavedValues::Function SavedValues::read_function(std::size_t derivative, const Declaration& own,
                                                 std::size_t kernel) const {
  Function function;
  function.subject = kernel;
  function.choices = call_choices(subjects_[kernel]);
  const Declaration& other = function.choices.declaration;
  function.outputs = outputs_of(other);
  const bool forward = is_forward(subjects_[derivative].op);
  for (std::size_t at = 0; at < own.arguments; ++at) {
    const Operand& operand = own.operands[at];
    const bool marked = !operand.tangent_of.empty() || !operand.cotangent_of.empty();
    function.handed.push_back(marked ? DerivativeOperand{}
                                     : find_value(other, function.outputs, operand.name, forward));
  }
  return function;
}

std::optional<PlannedCall> SavedValues::function_call(const Declaration& own,
                                                      const Function& function,
                                                      const ffi::Question& question,
                                                      std::string& why) const {
  const Declaration& other = function.choices.declaration;
  const std::string name = quote(subjects_[function.subject].name);
  // Places in the call, and those of the operator's operands that they stand for.
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t at = 0; at < own.operands.size(); ++at) {
    const Operand& operand = own.operands[at];
    const std::string& target =
        operand.tangent_of.empty() ? operand.cotangent_of : operand.tangent_of;
    if (at < function.handed.size() && function.handed[at].role == Role::value) {
      const DerivativeOperand& handed = function.handed[at];
      pairs.emplace_back(at,
                         handed.output ? place_of(other, function.outputs[handed.of]) : handed.of);
    } else if (!target.empty()) {
      const auto input = find_argument(other, target);
      const auto output = find_output(other, function.outputs, target);
      if (input) pairs.emplace_back(at, *input);
      if (!input && output) pairs.emplace_back(at, place_of(other, function.outputs[*output]));
    }
  }
  BoundExtents bound(other.extents.size());
  for (const auto& [at, place] : pairs) {
    if (bind_extents(other.operands[place].shape, ffi::operand_at(question, at).dims, bound)) {
      continue;
    }
    why = name_of(own.operands[at], at, own.arguments) + " hasn't the shape that " +
          name_of(other.operands[place], place, other.arguments) + " of " + name + " has then";
    return {};
  }
  std::vector<std::int64_t> sizes;
  for (std::size_t at = 0; at < bound.size(); ++at) {
    if (!bound[at]) {
      why = "nothing that it is handed says how large extent " + quote(other.extents[at]) + " of " +
            name + " is, whose results it is handed";
      return {};
    }
    sizes.push_back(*bound[at]);
  }
  for (const std::vector<std::string>& dtypes : function.choices.dtypes) {
    const bool same = std::all_of(pairs.begin(), pairs.end(), [&](const auto& pair) {
      const ffi::DtypeInfo* dtype = ffi_dtype(dtypes[pair.second]);
      return dtype != nullptr && dtype->number == ffi::operand_at(question, pair.first).dtype;
    });
    if (!same) continue;
    CallPlan plan = plan_call(subjects_[function.subject], dtypes, sizes);
    if (!plan.calls.empty()) return std::move(plan.calls.front());
    why = name + ", whose results it is handed, can't be called: " + plan.skipped;
    return {};
  }
  why = "no combination of dtypes of " + name + ", whose results it is handed, fits its own";
  return {};
}

std::pair<std::optional<PlannedCall>, const SavedValues::Function*> SavedValues::find_call(
    const Model& model, Call& call) const {
  std::string first;
  for (const Function& function : model.functions) {
    std::string why;
    std::optional<PlannedCall> planned = function_call(model.own, function, *call.question, why);
    if (planned) return {std::move(planned), &function};
    if (first.empty()) first = std::move(why);
  }
  call.skipped = std::move(first);
  return {};
}

void SavedValues::fill(std::vector<Call>& calls) {
  // By the text of the question: kinds of calls ask for the same.
  std::map<std::string, std::size_t> known;
  std::vector<Source> sources;
  for (Call& call : calls) {
    if (call.question == nullptr) continue;
    const Model& model = model_of(call.subject);
    if (!model.saves) continue;
    call.skipped = model.skipped;
    if (!call.skipped.empty()) continue;
    auto [planned, function] = find_call(model, call);
    if (!planned) continue;
    if (ffi::size_of(planned->question) > most_bytes) {
      call.skipped = "what it is handed of " + quote(subjects_[function->subject].name) +
                     " has more than " + std::to_string(most_bytes) + " bytes";
      continue;
    }
    ValueCall source;
    source.subject = function->subject;
    source.identity = asker_.identity(function->subject) + "/values";
    source.question = std::move(planned->question);
    source.question.kind = ffi::QuestionKind::values;
    source.question.minor = asker_.minor(function->subject);
    for (std::size_t at = 0; at < source.question.arguments.size(); ++at) {
      ffi::QuestionOperand& operand = source.question.arguments[at];
      operand.bytes = made_up(operand, std::uint64_t{call.question->seed} * 31 + at);
    }
    const auto [place, fresh] =
        known.try_emplace(ffi::write_question(source.question), sources.size());
    if (fresh) sources.push_back({std::move(source)});
    sources[place->second].users.emplace_back(&call, function);
  }
  std::vector<ValueCall> asked;
  for (Source& source : sources) asked.push_back(std::move(source.call));
  if (!asked.empty()) asker_.ask(asked);
  for (std::size_t at = 0; at < sources.size(); ++at) {
    sources[at].call = std::move(asked[at]);
    state(sources[at]);
  }
}

void SavedValues::state(const Source& source) const {
  const ValueCall& called = source.call;
  for (const auto& [call, function] : source.users) {
    if (!is_served(called)) {
      call->skipped = "a call of " + quote(subjects_[called.subject].name) +
                      ", whose results it is handed, " + end_text(called);
      continue;
    }
    for (std::size_t at = 0; at < function->handed.size(); ++at) {
      const DerivativeOperand& handed = function->handed[at];
      if (handed.role != Role::value) continue;
      call->question->arguments[at].bytes =
          handed.output ? bytes_of(called.answer, function->outputs[handed.of])
                        : called.question.arguments[handed.of].bytes;
    }
  }
}

}  // namespace opseal
