#include <cstdint>
#include <string_view>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

std::string_view name_at(const Fact& parameters, std::uint32_t place) {
  std::uint32_t at = 0;
  for (const Fact name : parameters.items()) {
    if (at++ == place) return name.text();
  }
  return {};
}

bool holds(const Fact& names, std::string_view name) {
  for (const Fact one : names.items()) {
    if (one.is(name)) return true;
  }
  return false;
}

// What a parameter of the kernel is called in the shape function: there it may have another name.
std::string_view counterpart(const Fact& kernel, const Fact& abstract, std::string_view name) {
  const Fact theirs = abstract[Key::parameters];
  if (holds(theirs, name) || holds(abstract[Key::names], name)) return name;
  std::uint32_t place = 0;
  for (const Fact one : kernel[Key::parameters].items()) {
    if (one.is(name)) return name_at(theirs, place);
    ++place;
  }
  return {};
}

void look_at(const Fact& manifest, const Fact& op, Sink& sink) {
  const Fact abstract = op[Key::abstract];
  const Fact read = abstract[Key::reads];
  if (!all_read(read)) return;
  for (const Fact kernel : op[Key::kernels].items()) {
    const Fact function = kernel[Key::function];
    const Fact choices = function[Key::shape];
    if (!is_active_kernel(kernel) || !all_read(choices)) continue;
    sink.inspected();
    for (const Fact choice : choices.items()) {
      const std::string_view name = counterpart(function, abstract, choice.text());
      if (name.empty() || holds(read, name)) continue;
      Finding& finding =
          sink.add(subject_of(manifest, op),
                   "shape function never reads " + quote(name) +
                       ", by which the kernel chooses between shapes or dtypes of its result",
                   evidence(read, "this shape function"));
      finding.related.push_back(evidence(choice, "this kernel" + site_of(kernel)));
      return;
    }
  }
}

void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts,
                    [&sink](const Fact& manifest, const Fact& op) { look_at(manifest, op, sink); });
}

}  // namespace

extern constinit const Rule fake_choice_unread{
    .id = "fake-choice-unread",
    .title = "shape function ignores what chooses the shape of the result",
    .rationale =
        "A kernel that makes its result in one shape or another, as a flag says, has a shape "
        "function that never looks at the flag. A compiled model is built for the shape that the "
        "shape function says: with the flag set the other way it reads the result in the wrong "
        "order, or past its end. Eager runs never ask the shape function.",
    .example =
        R"({"opseal_manifest": 1, "system": "torch", "operators": [{"name": "lib::mm", "schema": "lib::mm(Tensor x, bool swap) -> Tensor", )"
        R"("abstract": {"name": "mm_fake", "parameters": ["x", "swap"], "reads": ["x"]}, )"
        R"("kernels": [{"platform": "CUDA", "function": {"name": "mm", "parameters": ["x", "swap"], "shape": ["swap"]}}]}]})",
    .fix = "let the shape function make the same choice",
    .severity = Severity::warning,
    .inspects =
        "kernel that chooses between shapes by a parameter, of an operator whose shape function "
        "was read",
    .needs = {Key::operators, Key::abstract, Key::reads, Key::shape},
    .check = check,
};

}  // namespace opseal
