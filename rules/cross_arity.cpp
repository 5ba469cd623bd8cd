#include <algorithm>
#include <cstdint>
#include <string>

#include "opseal/text.h"
#include "rules/cross_signature.h"

namespace opseal {
namespace {

struct Arity {
  CrossSignature signature;
  explicit operator bool() const { return signature.inputs_at.said(); }
};

bool overlap(const CountRange& a, const CountRange& b) { return a.min <= b.max && b.min <= a.max; }

// Attributes of `a` that may be tensors in `b`, which has none of that name.
std::uint32_t passed_as_tensors(const CrossSignature& a, const CrossSignature& b) {
  std::uint32_t number = 0;
  for (const CrossSignature::Named& attribute : a.attributes) {
    if (b.find_attribute(attribute.folded) == nullptr) ++number;
  }
  return number;
}

// What may stand among the inputs: with attributes that the other side takes as tensors, and
// without tensors that are written only, which the other side may return.
CountRange inputs_of(const CrossSignature& own, const CrossSignature& other) {
  CountRange range = own.inputs;
  range.min -= std::min(range.min, own.mutated);
  if (range.max != CountRange::unbounded) range.max += passed_as_tensors(own, other);
  return range;
}

// `a` is handed what it writes, and nobody marks it: `f(out, x)` beside `out = f(x)`.
bool writes_into_inputs(const CrossSignature& a, const CrossSignature& b) {
  if (a.target || a.says_mutation || !a.outputs_at.said() || a.outputs.max != 0) return false;
  if (!b.outputs_at.said()) return true;
  CountRange range = inputs_of(b, a);
  range.min += b.outputs.min;
  range.max = b.outputs.max == CountRange::unbounded || range.max == CountRange::unbounded
                  ? CountRange::unbounded
                  : range.max + b.outputs.max;
  return overlap(inputs_of(a, b), range);
}

bool same_inputs(const CrossSignature& a, const CrossSignature& b) {
  return overlap(inputs_of(a, b), inputs_of(b, a)) || writes_into_inputs(a, b) ||
         writes_into_inputs(b, a);
}

// A target may return workspaces and residuals that the operator in front of it keeps to itself.
bool same_outputs(const CrossSignature& a, const CrossSignature& b) {
  if (!a.outputs_at.said() || !b.outputs_at.said()) return true;
  if (writes_into_inputs(a, b) || writes_into_inputs(b, a)) return true;
  const CountRange first = a.produced();
  const CountRange second = b.produced();
  if (a.target != b.target) {
    return a.target ? first.max >= second.min : second.max >= first.min;
  }
  return overlap(first, second);
}

bool agree(const Arity& a, const Arity& b) {
  return same_inputs(a.signature, b.signature) && same_outputs(a.signature, b.signature);
}

void check(const Facts& facts, Sink& sink) {
  for (const CrossOperator& op : cross_operators(facts)) {
    hold_together(
        op, sink, [](const CrossColumn& column) { return Arity{read_signature(column)}; }, agree,
        [&sink](const CrossColumn& reference, const CrossColumn& other, const Arity& expected,
                const Arity& found) {
          const bool inputs = !same_inputs(expected.signature, found.signature);
          const CrossSignature& own = found.signature;
          const CrossSignature& there = expected.signature;
          const std::string_view noun = inputs ? "input" : "output";
          Finding& finding =
              sink.add(subject_of(other),
                       column_text(other) + (inputs ? " takes " : " returns ") +
                           to_text(inputs ? own.inputs : own.produced(), noun) + ", " +
                           column_text(reference) + ' ' +
                           to_text(inputs ? there.inputs : there.produced(), noun),
                       evidence(inputs ? own.inputs_at : own.outputs_at,
                                std::string(noun) + "s counted here" + site_of(other.item)));
          finding.related.push_back(
              evidence(inputs ? there.inputs_at : there.outputs_at,
                       std::string(noun) + "s counted here" + site_of(reference.item)));
          add_join_evidence(reference, other, finding);
          finding.severity = severity_of_break(reference, other);
        });
  }
}

}  // namespace

extern constinit const Rule cross_arity{
    .id = "cross-arity",
    .title = "operator takes or returns another number of tensors in another system",
    .rationale =
        "A project that offers one operator in several frameworks keeps a registration in each, "
        "by hand. An input that was added in one and forgotten in the other gives an operator "
        "that ignores it there, or a kernel that reads its arguments one place off. Tests of one "
        "framework can't see it.",
    .example = R"({"opseal_manifest": 1, "joins": [["mylib::rope", "mylib_rope"]], "operators": [)"
               R"({"name": "rope", "namespace": "mylib", "inputs": 3}], "targets": [)"
               R"({"name": "mylib_rope", "spec": ["arg", "arg", "ret"]}]})",
    .fix = "bring both registrations to one signature, or name each by what it computes",
    .severity = Severity::error,
    .profile = Profile::strict,
    .inspects = "registration of an operator that another system has too, both with counted inputs",
    .asked_by = Key::joins,
    .check = check,
};

}  // namespace opseal
