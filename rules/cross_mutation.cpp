#include <algorithm>
#include <string>

#include "opseal/text.h"
#include "rules/cross_signature.h"

namespace opseal {
namespace {

// Every input says whether it is written: an operator by marks, a target by what it returns.
bool says_all(const CrossSignature& signature) {
  return signature.says_mutation || signature.target;
}

// Who says which inputs are written; one that is said to be is enough to hold against another
// registration.
struct Writes {
  CrossSignature signature;
  explicit operator bool() const {
    return signature.inputs_at.said() && signature.outputs_at.said() &&
           (says_all(signature) || signature.mutated > 0);
  }
};

bool all_named(const CrossSignature& signature) {
  return std::none_of(signature.operands.begin(), signature.operands.end(),
                      [](const auto& operand) { return operand.name.empty(); });
}

// An input that `a` marks as written and `b`, under the same name, as only read.
const CrossSignature::Named* unmarked(const CrossSignature& a, const CrossSignature& b) {
  for (const CrossSignature::Named& operand : a.operands) {
    if (!operand.mutated || operand.name.empty()) continue;
    const CrossSignature::Named* other = b.find_operand(operand.folded);
    if (other != nullptr && !other->mutated) return &operand;
  }
  return nullptr;
}

// `a` writes an input that `b` takes, and neither marks nor returns.
bool loses_a_write(const CrossSignature& a, const CrossSignature& b) {
  // What `b` leaves unsaid may be the mark.
  if (!says_all(b) || a.mutated <= b.mutated) return false;
  // Handed fewer inputs, `b` may have no such one.
  if (b.inputs.max < a.inputs.min) return false;
  const CountRange there = b.produced();
  return there.max != CountRange::unbounded && there.max < a.outputs.min + a.mutated;
}

// Both write equally many, and not the same.
bool writes_another(const CrossSignature& a, const CrossSignature& b) {
  return says_all(a) && says_all(b) && a.mutated == b.mutated && a.outputs.max == 0 &&
         b.outputs.max == 0 && all_named(a) && all_named(b) && unmarked(a, b) != nullptr &&
         unmarked(b, a) != nullptr;
}

bool agree(const Writes& a, const Writes& b) {
  return !loses_a_write(a.signature, b.signature) && !loses_a_write(b.signature, a.signature) &&
         !writes_another(a.signature, b.signature);
}

// "marks 1 of 2 inputs as written", "takes 2 inputs and returns 1 output".
std::string writes_text(const CrossSignature& signature) {
  if (signature.target) {
    return "takes " + to_text(signature.inputs, "input") + " and returns " +
           to_text(signature.outputs, "output");
  }
  if (signature.mutated == 0)
    return "marks no input as written and returns " + to_text(signature.outputs, "output");
  return "marks " + plural(signature.mutated, "input") + " as written and returns " +
         to_text(signature.outputs, "output");
}

void check(const Facts& facts, Sink& sink) {
  for (const CrossOperator& op : cross_operators(facts)) {
    hold_together(
        op, sink, [](const CrossColumn& column) { return Writes{read_signature(column)}; }, agree,
        [&sink](const CrossColumn& reference, const CrossColumn& other, const Writes& expected,
                const Writes& found) {
          // What lacks the mark is told, whichever of the two it is.
          const bool turned = loses_a_write(found.signature, expected.signature);
          const CrossColumn& lacking = turned ? reference : other;
          const CrossColumn& marking = turned ? other : reference;
          const CrossSignature& here = (turned ? expected : found).signature;
          const CrossSignature& there = (turned ? found : expected).signature;
          const CrossSignature::Named* own = unmarked(here, there);
          const CrossSignature::Named* operand = unmarked(there, here);
          std::string message = column_text(lacking) + ' ';
          message += own == nullptr ? writes_text(here)
                                    : "marks its input " + quote(own->name) + " as written";
          message += ", " + column_text(marking) + ' ';
          message += operand == nullptr ? writes_text(there)
                                        : "marks its input " + quote(operand->name) + " as written";
          Finding& finding = sink.add(subject_of(lacking), std::move(message),
                                      evidence(here.inputs_at, "inputs" + site_of(lacking.item)));
          finding.related.push_back(
              evidence(there.inputs_at, "marked as written here" + site_of(marking.item)));
          add_join_evidence(marking, lacking, finding);
          finding.severity = severity_of_break(reference, other);
        });
  }
}

}  // namespace

extern constinit const Rule cross_mutation{
    .id = "cross-mutation",
    .title = "operator writes an input that it only reads in another system",
    .rationale =
        "A compiler reorders, repeats and drops calls by what a registration says it writes. "
        "Where one system knows that an operator updates its input in place and the other was "
        "never told, the second may read the buffer before the update, share it with another "
        "value, or drop the call since nobody uses its result. The numbers are then wrong now "
        "and then.",
    .example =
        R"json({"opseal_manifest": 1, "joins": [["a::push", "b::push"]], "operators": [)json"
        R"json({"name": "push", "namespace": "a", "schema": "a::push(Tensor(a!) x) -> ()"},)json"
        R"json( {"name": "push", "namespace": "b", "schema": "b::push(Tensor x) -> ()"}]})json",
    .fix = "mark the input as written in both registrations, or return the updated tensor",
    .severity = Severity::error,
    .profile = Profile::strict,
    .inspects =
        "registration of an operator that another system has too, both saying what is written",
    .asked_by = Key::joins,
    .check = check,
};

}  // namespace opseal
