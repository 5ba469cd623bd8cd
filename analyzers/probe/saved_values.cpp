#include "analyzers/probe/saved_values.h"

#include <algorithm>
#include <span>
#include <utility>

#include "analyzers/probe/values.h"
#include "opseal/text.h"

namespace opseal {
namespace {

using Role = DerivativeOperand::Role;

// Of all operands of a call whose numbers are handed on.
constexpr std::size_t most_bytes = std::size_t{1} << 20;

std::size_t bytes_of(const ffi::Question& question) {
  std::size_t bytes = 0;
  for (const auto* side : {&question.arguments, &question.results}) {
    for (const ffi::QuestionOperand& operand : *side) bytes += ffi::size_of(operand);
  }
  return bytes;
}

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
  model.own = call_choices(subjects_[subject]);
  const std::vector<std::size_t> kernels = planner_.kernels_of(subject, name);
  if (kernels.empty()) {
    const std::string unsaid = unsaid_operand(model.own.declaration);
    if (!computes_derivatives(op) || unsaid.empty()) return model;
    model.saves = true;
    model.skipped = "nobody says whether " + unsaid + " is an input of " +
                    (name.empty() ? std::string("its operator") : quote(name)) +
                    " or a result that it saves";
    return model;
  }
  // One that can't be called still says what its operands are.
  for (const bool called : {true, false}) {
    for (const std::size_t kernel : kernels) {
      if (called && !planner_.can_call(kernel)) continue;
      model.function = kernel;
      model.other = call_choices(subjects_[kernel]);
      if (called && model.other.dtypes.empty()) continue;
      read_operands(subject, model);
      if (!called && model.saves) {
        model.skipped =
            "no kernel of " + quote(name) + ", whose results it is handed, can be called";
      }
      return model;
    }
  }
  return model;
}

void SavedValues::read_operands(std::size_t subject, Model& model) const {
  const Declaration& own = model.own.declaration;
  const Declaration& other = model.other.declaration;
  model.outputs = outputs_of(other);
  for (std::size_t at = 0; at < own.arguments; ++at) {
    const Operand& operand = own.operands[at];
    DerivativeOperand handed;
    if (operand.tangent_of.empty() && operand.cotangent_of.empty()) {
      handed = find_value(other, model.outputs, operand.name);
      model.saves = model.saves || handed.output;
    }
    model.handed.push_back(handed);
  }
  const std::string attribute =
      other_attribute(subjects_[subject].op, subjects_[model.function].op);
  if (model.saves && !attribute.empty()) {
    model.skipped = "its attribute " + attribute + " has another value than that of " +
                    quote(subjects_[model.function].name) + ", whose results it is handed";
  }
}

std::optional<PlannedCall> SavedValues::function_call(const Model& model,
                                                      const ffi::Question& question,
                                                      std::string& why) const {
  const Declaration& own = model.own.declaration;
  const Declaration& other = model.other.declaration;
  const std::string function = quote(subjects_[model.function].name);
  // Places in the call, and those of the operator's operands that they stand for.
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t at = 0; at < own.operands.size(); ++at) {
    const Operand& operand = own.operands[at];
    const std::string& target =
        operand.tangent_of.empty() ? operand.cotangent_of : operand.tangent_of;
    if (at < model.handed.size() && model.handed[at].role == Role::value) {
      const DerivativeOperand& handed = model.handed[at];
      pairs.emplace_back(at, handed.output ? place_of(other, model.outputs[handed.of]) : handed.of);
    } else if (!target.empty()) {
      const auto input = find_argument(other, target);
      const auto output = find_output(other, model.outputs, target);
      if (input) pairs.emplace_back(at, *input);
      if (!input && output) pairs.emplace_back(at, place_of(other, model.outputs[*output]));
    }
  }
  BoundExtents bound(other.extents.size());
  for (const auto& [at, place] : pairs) {
    if (bind_extents(other.operands[place].shape, ffi::operand_at(question, at).dims, bound)) {
      continue;
    }
    why = name_of(own.operands[at], at, own.arguments) + " hasn't the shape that " +
          name_of(other.operands[place], place, other.arguments) + " of " + function + " has then";
    return {};
  }
  std::vector<std::int64_t> sizes;
  for (std::size_t at = 0; at < bound.size(); ++at) {
    if (!bound[at]) {
      why = "nothing that it is handed says how large extent " + quote(other.extents[at]) + " of " +
            function + " is, whose results it is handed";
      return {};
    }
    sizes.push_back(*bound[at]);
  }
  for (const std::vector<std::string>& dtypes : model.other.dtypes) {
    const bool same = std::all_of(pairs.begin(), pairs.end(), [&](const auto& pair) {
      const ffi::DtypeInfo* dtype = ffi_dtype(dtypes[pair.second]);
      return dtype != nullptr && dtype->number == ffi::operand_at(question, pair.first).dtype;
    });
    if (!same) continue;
    CallPlan plan = plan_call(subjects_[model.function], dtypes, sizes);
    if (!plan.calls.empty()) return std::move(plan.calls.front());
    why = function + ", whose results it is handed, can't be called: " + plan.skipped;
    return {};
  }
  why = "no combination of dtypes of " + function + ", whose results it is handed, fits its own";
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
    std::optional<PlannedCall> planned = function_call(model, *call.question, call.skipped);
    if (!planned) continue;
    if (bytes_of(planned->question) > most_bytes) {
      call.skipped = "what it is handed of " + quote(subjects_[model.function].name) +
                     " has more than " + std::to_string(most_bytes) + " bytes";
      continue;
    }
    ValueCall source;
    source.subject = model.function;
    source.identity = asker_.identity(model.function) + "/values";
    source.question = std::move(planned->question);
    source.question.kind = ffi::QuestionKind::values;
    source.question.minor = asker_.minor(model.function);
    for (std::size_t at = 0; at < source.question.arguments.size(); ++at) {
      ffi::QuestionOperand& operand = source.question.arguments[at];
      operand.bytes = made_up(operand, std::uint64_t{call.question->seed} * 31 + at);
    }
    const auto [place, fresh] =
        known.try_emplace(ffi::write_question(source.question), sources.size());
    if (fresh) sources.push_back({std::move(source)});
    sources[place->second].users.push_back(&call);
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
  for (Call* const call : source.users) {
    if (!is_served(called)) {
      call->skipped = "a call of " + quote(subjects_[called.subject].name) +
                      ", whose results it is handed, " + end_text(called);
      continue;
    }
    const Model& model = models_.at(call->subject);
    for (std::size_t at = 0; at < model.handed.size(); ++at) {
      const DerivativeOperand& handed = model.handed[at];
      if (handed.role != Role::value) continue;
      call->question->arguments[at].bytes = handed.output
                                                ? bytes_of(called.answer, model.outputs[handed.of])
                                                : called.question.arguments[handed.of].bytes;
    }
  }
}

}  // namespace opseal
