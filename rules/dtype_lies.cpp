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

bool is_declared_call(const Fact& probe) {
  return probe[Key::kind].is("call") && probe[Key::declared].truth() && has_verdict(probe) &&
         !has_no_end(probe);
}

void check(const Facts& facts, Sink& sink) {
  // A combination that some call of the kernel accepts is served: what is refused then are extents.
  std::map<std::string, bool> served;
  const auto key = [](const Fact& probe) {
    return std::string(probe[Key::operator_].text()) + '\0' +
           std::string(probe[Key::library].text()) + '\0' + std::string(probe[Key::symbol].text()) +
           '\0' + dtypes_of(probe);
  };
  for_each_probe(facts, [&](const Fact& probe) {
    if (!is_declared_call(probe)) return;
    bool& any = served[key(probe)];
    any = any || !probe[Key::status].is("refused");
  });
  ProbeFindings findings(sink);
  for_each_probe(facts, [&](const Fact& probe) {
    if (!is_declared_call(probe)) return;
    sink.inspected();
    if (!probe[Key::status].is("refused") || served[key(probe)]) return;
    findings.add(probe, dtypes_of(probe),
                 kernel_text(probe) + " refuses dtypes that it is declared to serve, in a call " +
                     call_text(probe) + ": " + std::string(probe[Key::reason].text("no reason")),
                 Severity::error);
  });
  findings.tell();
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
