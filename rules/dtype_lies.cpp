#include <set>
#include <string>
#include <string_view>

#include "rules/framework_rows.h"
#include "rules/probe_facts.h"

namespace opseal {
namespace {

// Dtypes of a call, in order.
std::string dtypes_of(const Fact& probe) {
  std::string text;
  for (const Key side : {Key::arguments, Key::results}) {
    for (const Fact operand : probe[side].items())
      text += join(texts_of(operand[Key::dtypes]), "") + ' ';
  }
  return text;
}

std::string extents_of(const Fact& probe) {
  std::string text = "=";
  for (const Key side : {Key::arguments, Key::results}) {
    for (const Fact operand : probe[side].items()) {
      for (const Fact extent : operand[Key::shape].items()) {
        text += std::to_string(extent.count()) + ',';
      }
      text += ';';
    }
  }
  return text;
}

bool is_declared_call(const Fact& probe) {
  return is_ended_call(probe) && probe[Key::declared].truth();
}

void check(const Facts& facts, Sink& sink) {
  // What some call accepts: by kernel and dtypes, and by kernel and extents.
  std::set<std::string> served;
  for_each_probe(facts, [&](const Fact& probe) {
    if (!is_declared_call(probe) || probe[Key::status].is("refused")) return;
    served.insert(kernel_key(probe) + dtypes_of(probe));
    served.insert(kernel_key(probe) + extents_of(probe));
  });
  ProbeFindings findings(sink);
  for_each_probe(facts, [&](const Fact& probe) {
    if (!is_declared_call(probe)) return;
    sink.inspected();
    if (!probe[Key::status].is("refused")) return;
    // What is refused then are extents.
    if (served.contains(kernel_key(probe) + dtypes_of(probe))) return;
    // A call may be wrong in other things that nobody declared, unless one of another dtype shows
    // that it isn't.
    if (!served.contains(kernel_key(probe) + extents_of(probe)) &&
        !is_about_dtypes(probe[Key::reason].text())) {
      return;
    }
    findings.add(probe, dtypes_of(probe),
                 kernel_text(probe) + " refuses dtypes that it is declared to serve, in a call " +
                     call_text(probe) + ": " + std::string(probe[Key::reason].text("no reason")),
                 Severity::error);
  });
  findings.tell();
  constexpr FrameworkFault faults[] = {
      {"declared-dtype", "refuses dtypes that it is declared to serve"},
  };
  judge_operator_rows(facts, faults, sink);
}

}  // namespace

extern constinit const Rule dtype_lies{
    .id = "dtype-lies",
    .title = "kernel refuses a dtype that it is declared to serve",
    .rationale =
        "Dispatch, documentation and fallbacks believe the declaration. A call with this "
        "dtype is sent to this kernel, which refuses it, though another one could have "
        "served it.",
    .example =
        R"({"opseal_manifest": 1, "probes": [{"kind": "call", "operator": "scale", "symbol": )"
        R"("Scale", "status": "refused", "reason": "Wrong buffer dtype: expected F32 but got )"
        R"(BF16", "arguments": [{"dtypes": ["bf16"], "shape": [3]}], "declared": true}]})",
    .fix = "serve the dtype, or take it out of the declaration",
    .severity = Severity::error,
    .tier = Tier::probe,
    .inspects = "call of a kernel with declared dtypes",
    .needs = {Key::probes},
    .check = check,
};

}  // namespace opseal
