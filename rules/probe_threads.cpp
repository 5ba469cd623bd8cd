#include <set>
#include <string>

#include "rules/probe_facts.h"

namespace opseal {
namespace {

// A call of a kernel, whoever made it.
std::string key_of(const Fact& probe) { return kernel_key(probe) + call_text(probe); }

void check(const Facts& facts, Sink& sink) {
  // What goes wrong in a single call, too, has nothing to do with threads.
  std::set<std::string> alone;
  for_each_probe(facts, [&](const Fact& probe) {
    if (probe[Key::kind].is("call") && has_no_end(probe)) alone.insert(key_of(probe));
  });
  ProbeFindings findings(sink);
  for_each_probe(facts, [&](const Fact& probe) {
    if (!probe[Key::kind].is("threads") || !has_verdict(probe)) return;
    if (probe[Key::status].is("refused")) return;
    if (alone.contains(key_of(probe))) return;
    sink.inspected();
    const std::string calls =
        " when its first calls are made by many threads at once, each " + call_text(probe);
    if (has_no_end(probe)) {
      findings.add(probe, "end",
                   kernel_text(probe) + " fails" + calls + ": " +
                       std::string(probe[Key::reason].text("no answer")),
                   Severity::error);
    }
    for (const Fact deviation : probe[Key::deviations].items()) {
      if (!deviation[Key::kind].is("threads")) continue;
      findings.add(probe, "values",
                   kernel_text(probe) + " gives something else in " +
                       plural(deviation[Key::elements].count(1), "call") +
                       " than in a call alone," + calls,
                   probe[Key::bit_stable].truth() ? Severity::error : Severity::warning);
    }
  });
  findings.tell();
}

}  // namespace

extern constinit const Rule probe_threads{
    .id = "probe-threads",
    .title = "first calls of a kernel, made at once, go wrong",
    .rationale =
        "Whatever a kernel makes once, on its first call, is made by all threads at once "
        "when a server starts: a table filled twice, a flag set before the table is. Later "
        "calls are right, so that nobody can repeat it. The probe starts a fresh process and "
        "calls from 32 threads before anything else.",
    .example =
        R"({"opseal_manifest": 1, "probes": [{"kind": "threads", "operator": "scale", "symbol": )"
        R"("Scale", "status": "timed_out", "reason": "no end within the time limit"}]})",
    .fix = "make what is made once with a static of a function or `std::call_once`",
    .severity = Severity::error,
    .tier = Tier::probe,
    .inspects = "kernel whose first calls were made at once",
    .needs = {Key::probes},
    .check = check,
};

}  // namespace opseal
