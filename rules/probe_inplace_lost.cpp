#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include "rules/framework_rows.h"
#include "rules/probe_facts.h"

namespace opseal {
namespace {

// A single element may be what it was: a sum of one, a sort of one.
bool has_several_elements(const Fact& probe) {
  std::uint64_t most = 0;
  for (const Fact operand : probe[Key::arguments].items()) {
    std::uint64_t elements = 1;
    for (const Fact extent : operand[Key::shape].items()) elements *= extent.count();
    most = std::max(most, elements);
  }
  return most > 1;
}

bool leaves_alone(const Fact& probe) {
  bool found = false;
  for_each_deviation(probe, "in_place", [&](const Fact&, const std::string&) { found = true; });
  return found;
}

void check(const Facts& facts, Sink& sink) {
  const auto counts = [](const Fact& probe) {
    return is_ended_call(probe) && !probe[Key::status].is("refused") && has_several_elements(probe);
  };
  // Kernels that wrote in some call.
  std::set<std::string> written;
  for_each_probe(facts, [&](const Fact& probe) {
    if (counts(probe) && !leaves_alone(probe)) written.insert(kernel_key(probe));
  });
  ProbeFindings findings(sink);
  for_each_probe(facts, [&](const Fact& probe) {
    if (!counts(probe)) return;
    sink.inspected();
    if (written.contains(kernel_key(probe))) return;
    for_each_deviation(probe, "in_place", [&](const Fact&, const std::string& name) {
      findings.add(probe, name,
                   kernel_text(probe) + " is declared to write " + name +
                       ", whose bytes calls with different values left as they were; in a call " +
                       call_text(probe),
                   Severity::warning);
    });
  });
  findings.tell();
  constexpr FrameworkFault faults[] = {
      {"written", "leaves an argument alone that its declaration calls written", Severity::warning},
  };
  judge_operator_rows(facts, faults, sink);
}

}  // namespace

extern constinit const Rule probe_inplace_lost{
    .id = "probe-inplace-lost",
    .title = "kernel leaves an argument alone that it is declared to write",
    .rationale =
        "The caller reads its own buffer afterwards and finds what it put there: the update "
        "went into a copy. Nothing fails, and a state never moves.",
    .example =
        R"({"opseal_manifest": 1, "probes": [{"kind": "call", "operator": "scale", "symbol": )"
        R"("Scale", "status": "differs", "arguments": [{"dtypes": ["f32"], "shape": [3]}], )"
        R"("deviations": [{"kind": "in_place", "name": "argument 0"}]}]})",
    .fix = "write into the buffer that was handed over, or declare the argument as read",
    .severity = Severity::warning,
    .tier = Tier::probe,
    .inspects = "call of a kernel that came back",
    .needs = {Key::probes},
    .check = check,
};

}  // namespace opseal
