#include <string>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

constexpr std::string_view weight_hook = "weight_fn";
constexpr std::string_view bias_hook = "bias_fn";

// Functions that a layer may put around its parameters. They reach an operator as attributes; of an
// operator whose attributes nobody said, the one around the weight is expected.
bool has_hook(const Fact& op, std::string_view hook) {
  const Fact attributes = op[Key::attributes];
  if (!attributes.is_list()) return hook == weight_hook;
  for (const Fact attribute : attributes.items()) {
    if (attribute[Key::name].is(hook)) return true;
  }
  return false;
}

std::vector<std::string> unread_hooks(const Fact& op, const Fact& gate_reads) {
  std::vector<std::string> unread;
  for (const std::string_view hook : {weight_hook, bias_hook}) {
    if (has_hook(op, hook) && !list_has(gate_reads, hook)) unread.push_back(quote(hook));
  }
  return unread;
}

void check_operator(const Fact& manifest, const Fact& op, Sink& sink) {
  const Fact fast_path = op[Key::etp][Key::fast_path];
  if (!fast_path) return;
  const Fact elementwise = fast_path[Key::elementwise];
  const Fact applicable = fast_path[Key::applicable];
  const Fact gate_reads = fast_path[Key::gate_reads];
  const bool gate_known = applicable.is_null() || all_read(gate_reads);
  if (!elementwise.is_truth() && !gate_known) return;
  sink.inspected();
  if (elementwise.is_truth() && !elementwise.truth()) {
    Finding& finding =
        sink.add(subject_of(manifest, op), "fast path on an operator that is not elementwise",
                 evidence(elementwise, "said to be not elementwise here"));
    finding.related.push_back(evidence(fast_path, "fast path registered here" + site_of(op)));
    return;
  }
  if (!gate_known) return;
  const Fact& gate = applicable.is_null() ? applicable : gate_reads;
  const std::vector<std::string> unread = unread_hooks(op, gate);
  if (unread.empty()) return;
  Finding& finding = sink.add(subject_of(manifest, op),
                              (applicable.is_null() ? "fast path without a gate that reads "
                                                    : "gate of the fast path does not read ") +
                                  join(unread, ", "),
                              evidence(gate, "gate said here"));
  finding.related.push_back(evidence(fast_path, "fast path registered here" + site_of(op)));
}

void check(const Facts& facts, Sink& sink) {
  for_each_operator(
      facts, [&sink](const Fact& manifest, const Fact& op) { check_operator(manifest, op, sink); });
}

}  // namespace

extern constinit const Rule etp_fastpath_elementwise{
    .id = "etp-fastpath-elementwise",
    .title = "fast path where its short cut does not hold",
    .rationale =
        "The fast path updates traces entry by entry, which is right only where the trace rule is "
        "elementwise and the weight is used as it is. On another operator, or with a gate that "
        "does "
        "not look whether a function is put around the weight, the short cut leaves a factor out: "
        "the online gradient differs from the one of the slow path, and nothing raises.",
    .example =
        R"({"name": "my_mm", "etp": {"fast_path": {"applicable": {"name": "always"}, "elementwise": true, "gate_reads": []}}})",
    .fix = "take the fast path off, or let its gate refuse when `weight_fn` or `bias_fn` is set",
    .severity = Severity::warning,
    .inspects = "eligibility-trace operator with a fast path whose gate or kind is said",
    .needs = {Key::etp, Key::fast_path},
    .check = check,
};

}  // namespace opseal
