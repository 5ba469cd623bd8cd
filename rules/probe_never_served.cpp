#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "rules/framework_rows.h"
#include "rules/probe_facts.h"

namespace opseal {
namespace {

// With something in every operand, and more than one element in some, or of fixed extents.
bool has_work(const Fact& probe) {
  std::uint64_t most = 0;
  for (const Key side : {Key::arguments, Key::results}) {
    for (const Fact operand : probe[side].items()) {
      std::uint64_t elements = 1;
      for (const Fact extent : operand[Key::shape].items()) elements *= extent.count();
      if (elements == 0) return false;
      most = std::max(most, elements);
    }
  }
  return most > 1;
}

// The calls of one kernel, or of one operator.
struct Calls {
  std::uint64_t refused = 0;
  std::uint64_t served = 0;
  // Served calls of any size.
  std::uint64_t any = 0;
  Fact first;
};

// What makes a call end without an answer is told by other rules.
void count(const Fact& row, Calls& calls) {
  const Fact status = row[Key::status];
  const bool refused = status.is("refused");
  if (!refused) ++calls.any;
  if (!has_work(row)) return;
  ++(refused ? calls.refused : calls.served);
  if (refused && !calls.first.said()) calls.first = row;
}

std::string caller_text(const Fact& row) {
  if (!row[Key::kind].is("framework")) return kernel_text(row);
  return quote(row[Key::operator_].text()) + ", called by " + framework_text(row) + ',';
}

void check(const Facts& facts, Sink& sink) {
  // What the signature shows is told of it.
  std::set<std::string> known;
  for_each_probe(facts, [&](const Fact& probe) {
    const bool differs = probe[Key::kind].is("signature") && probe[Key::status].is("differs");
    if (differs) known.insert(kernel_key(probe));
  });
  std::map<std::string, Calls> kernels;
  std::map<std::string, Calls> operators;
  for_each_probe(facts, [&](const Fact& probe) {
    if (is_ended_call(probe) && probe[Key::declared].truth()) {
      count(probe, kernels[kernel_key(probe)]);
    }
  });
  for_each_operator_row(facts, [&](const Fact& row) {
    const Fact status = row[Key::status];
    const bool ended = status.is("refused") || status.is("passed") || status.is("differs");
    if (!row[Key::name].is("declared-dtype") || !ended) return;
    count(row, operators[std::string(row[Key::system].text()) + '/' +
                         std::string(row[Key::operator_].text())]);
  });
  ProbeFindings findings(sink);
  for (const auto* all : {&kernels, &operators}) {
    for (const auto& [key, calls] : *all) {
      if (calls.refused + calls.served == 0) continue;
      sink.inspected();
      if (calls.served > 0) continue;
      const std::string_view reason = calls.first[Key::reason].text("no reason");
      // That is what `dtype-lies` says.
      if (is_about_dtypes(reason) || known.contains(key)) continue;
      const std::string which = calls.any > 0
                                    ? "each call by its declaration that has more than one element"
                                    : "each call by its declaration";
      findings.add(calls.first, key,
                   caller_text(calls.first) + " refuses " + which + " (" +
                       plural(calls.refused, "call") + "), as " + call_text(calls.first) + ": " +
                       std::string(reason),
                   Severity::warning);
    }
  }
  findings.tell();
}

}  // namespace

extern constinit const Rule probe_never_served{
    .id = "probe-never-served",
    .title = "kernel refuses every call that its declaration allows",
    .rationale =
        "Names of attributes, counts, shapes or a condition that nobody stated: where each call "
        "by the declaration is refused, the declaration describes another kernel, and nothing "
        "that was asked of this one has an answer. Who believes the declaration, a dispatcher or "
        "a table of what is supported, sends calls here that fail.",
    .example =
        R"({"opseal_manifest": 1, "probes": [{"kind": "call", "operator": "scale", "symbol": )"
        R"("Scale", "status": "refused", "reason": "Attribute name mismatch: aplha", )"
        R"("arguments": [{"dtypes": ["f32"], "shape": [3]}], "declared": true}]})",
    .fix =
        "bring declaration and kernel together; a condition that shapes don't say belongs into "
        "`capabilities.constraints`",
    .severity = Severity::warning,
    .tier = Tier::probe,
    .inspects = "kernel, or operator of a framework, of which declared calls came to an end",
    .needs = {},
    .check = check,
};

}  // namespace opseal
