#include <cstdint>
#include <string_view>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// What the operands say about where results go.
struct Aliasing {
  // An output that is the buffer of an input, written: `a!`.
  Fact written_output;
  // Every operand was read, and each input says that it is not written.
  bool none = false;
};

Aliasing aliasing_of(const Fact& op) {
  Aliasing aliasing;
  const Fact inputs = op[Key::inputs];
  const Fact outputs = op[Key::outputs];
  if (!inputs.is_list() && !outputs.is_list()) return aliasing;
  aliasing.none = all_read(inputs) && all_read(outputs) && inputs.size() > 0 && outputs.size() > 0;
  for (const Fact output : outputs.items()) {
    const Fact alias = output[Key::alias];
    if (alias.present()) aliasing.none = false;
    // A mark without `!` is a view: it shares the buffer and writes nothing.
    if (!aliasing.written_output && alias.text().find('!') != std::string_view::npos) {
      aliasing.written_output = alias;
    }
  }
  for (const Fact input : inputs.items()) {
    const Fact mutated = input[Key::mutated];
    if (!mutated.is_truth() || mutated.truth() || input[Key::alias].present()) {
      aliasing.none = false;
    }
  }
  return aliasing;
}

// Operators with more operands are none that anybody wrote, and each output is looked for among the
// inputs.
constexpr std::uint32_t most_operands = 256;

// One set of buffers (`a`, `a!`), not a union or a wildcard (`a|b`, `a -> *`).
bool is_plain(std::string_view alias) { return alias.find_first_of("|*- ") == alias.npos; }

bool has_alias(const Fact& inputs, const Fact& wanted) {
  for (const Fact input : inputs.items()) {
    const Fact alias = input[Key::alias];
    if (alias.is_text() && (alias.name() == wanted.name() || !is_plain(alias.text()))) return true;
  }
  return false;
}

// An output that is the written buffer of an input which doesn't say so.
void check_operands(const Fact& manifest, const Fact& op, Sink& sink) {
  const Fact inputs = op[Key::inputs];
  const Fact outputs = op[Key::outputs];
  if (!outputs.is_list()) return;
  std::uint32_t looked = 0;
  for (const Fact output : outputs.items()) {
    const Fact alias = output[Key::alias];
    if (++looked > most_operands) return;
    if (alias.text().find('!') == std::string_view::npos || !is_plain(alias.text())) continue;
    if (!all_read(inputs) || inputs.size() > most_operands) return;
    sink.inspected();
    if (has_alias(inputs, alias)) continue;
    Finding& finding =
        sink.add(subject_of(manifest, op),
                 "output is the written buffer " + quote(alias.text()) + ", which no input is",
                 evidence(alias, "output marked here" + site_of(op)));
    finding.related.push_back(evidence(inputs, "inputs listed here"));
  }
}

void check_kernels(const Fact& manifest, const Fact& op, Sink& sink) {
  Aliasing aliasing;
  bool looked = false;
  for (const Fact kernel : op[Key::kernels].items()) {
    const Fact in_place = kernel[Key::capabilities][Key::in_place];
    if (!in_place.is_truth() || !is_active_kernel(kernel)) continue;
    if (!looked) aliasing = aliasing_of(op);
    looked = true;
    // To most engines `in_place` means that the kernel may be handed one buffer for both.
    if (!manifest[Key::system].is("fuel")) aliasing.none = false;
    if (!aliasing.written_output && !aliasing.none) return;
    sink.inspected();
    if (in_place.truth() != aliasing.none) continue;
    if (aliasing.none) {
      Finding& finding = sink.add(
          subject_of(manifest, op),
          "kernel for " + decision_text(kernel) +
              " writes its result into an input, and the operator says that it writes none",
          evidence(in_place, "said to work in place here" + site_of(kernel)));
      finding.related.push_back(
          evidence(op[Key::inputs], "no input is said to be written" + site_of(op)));
    } else {
      Finding& finding = sink.add(
          subject_of(manifest, op),
          "output shares the buffer of an input (" + quote(aliasing.written_output.text()) +
              "), and the kernel for " + decision_text(kernel) + " does not work in place",
          evidence(in_place, "said not to work in place here" + site_of(kernel)));
      finding.related.push_back(
          evidence(aliasing.written_output, "output shares the buffer here" + site_of(op)));
    }
  }
}

void check(const Facts& facts, Sink& sink) {
  const bool aliases = facts.said[static_cast<std::size_t>(Key::alias)];
  const bool capabilities = facts.said[static_cast<std::size_t>(Key::in_place)];
  if (!aliases && !capabilities) return;
  for_each_operator(facts, [&](const Fact& manifest, const Fact& op) {
    if (aliases) check_operands(manifest, op, sink);
    if (capabilities) check_kernels(manifest, op, sink);
  });
}

}  // namespace

extern constinit const Rule alias_incoherent{
    .id = "alias-incoherent",
    .title = "contradiction about whether a result is written into an input",
    .rationale =
        "Callers and compilers go by the marks of the operator: where its output is marked as the "
        "buffer of an input they pass one buffer and read the result from it. A kernel that writes "
        "elsewhere leaves the old values there. The other way round, a kernel that writes into an "
        "input that nobody marked destroys a value that the caller goes on using. Neither raises.",
    .example = R"({"name": "relu_", "inputs": [{"name": "x", "alias": "a!"}],)"
               R"( "outputs": [{"alias": "a!"}], "kernels": [{"platform": "cpu",)"
               R"( "capabilities": {"in_place": false}}]})",
    .fix =
        "mark the output with the alias of the input that it overwrites, or take the mark of the "
        "kernel back",
    .severity = Severity::error,
    .inspects = "written output of an operator, or kernel that says whether it works in place",
    .needs = {Key::operators},
    .check = check,
};

}  // namespace opseal
