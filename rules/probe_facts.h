#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {

// A call with an operand whose elements don't lie side by side.
bool is_view(const Fact& probe);

// Every probe of a kernel: calls `visit(probe)`. For checks of frameworks see framework_rows.h.
template <typename Visit>
void for_every_probe(const Facts& facts, Visit visit) {
  for (const Document& document : facts.documents) {
    for (const Fact probe : facts.root(document)[Key::probes].items()) {
      if (!probe[Key::kind].is_text() || probe[Key::kind].is("framework")) continue;
      if (probe[Key::status].is_text()) visit(probe);
    }
  }
}

// Every probe but those with views: these are made where dense calls pass, so that whatever goes
// wrong in them is a matter of strides, and of one rule.
template <typename Visit>
void for_each_probe(const Facts& facts, Visit visit) {
  for_every_probe(facts, [&visit](const Fact& probe) {
    if (!is_view(probe)) visit(probe);
  });
}

// It came to an end that says something of the kernel.
inline bool has_verdict(const Fact& probe) { return !probe[Key::status].is("skipped"); }

// The kernel ended the process, or never came to an end.
bool has_no_end(const Fact& probe);

// A call that the declaration doesn't promise to serve.
inline bool is_undeclared(const Fact& probe) { return !probe[Key::declared].truth(true); }

// A call that came to its end, be it with a refusal.
inline bool is_ended_call(const Fact& probe) {
  return probe[Key::kind].is("call") && has_verdict(probe) && !has_no_end(probe);
}

// A call whose results were looked at: it was served, twice, and wrote nothing beside its buffers.
bool has_compared_results(const Fact& probe);

// One kernel of one operator: what tells its probes from those of others.
std::string kernel_key(const Fact& probe);

// Calls `visit(deviation, name of its buffer)` for those of a kind.
template <typename Visit>
void for_each_deviation(const Fact& probe, std::string_view kind, Visit visit) {
  for (const Fact deviation : probe[Key::deviations].items()) {
    if (deviation[Key::kind].is(kind)) {
      visit(deviation, std::string(deviation[Key::name].text("a buffer")));
    }
  }
}

// "`Axpy` of `libaxpy.so` gives 2.5 at element 3 of result 0, expected 1.5; in a call ...".
// `words`: `expected`, or how near. `otherwise`: what was expected, where the deviation doesn't say
// it.
std::string value_text(const Fact& probe, const Fact& deviation, const std::string& name,
                       std::string_view words, std::string_view otherwise);

// "(f32[3], f32[3]) -> f32[3]"; without results, where they aren't stated: "(f32[3], f32[3])".
std::string call_text(const Fact& probe);

// A refusal that speaks of dtypes of operands, in the words of XLA's headers and of others.
bool is_about_dtypes(std::string_view reason);

// "`Axpy` of `libaxpy.so`"
std::string kernel_text(const Fact& probe);

// Findings about probes: many calls of one kernel go wrong in one way, and are told once.
class ProbeFindings {
 public:
  explicit ProbeFindings(Sink& sink) : sink_(&sink) {}

  // `what`: what distinguishes one way of going wrong from another, with the kernel.
  void add(const Fact& probe, std::string what, std::string message, Severity severity);
  void tell();

 private:
  struct Group {
    Fact probe;
    std::string message;
    Severity severity = Severity::error;
    std::uint64_t others = 0;
  };
  Sink* sink_;
  std::map<std::string, std::size_t> places_;
  std::vector<Group> groups_;
};

// Kernels that compute derivatives of another operator: a finding for each probe of the kind
// (`jvp`, `transpose`) that `differs`. `what` is what the kernel does wrong. Counts those with an
// answer.
void judge_derivatives(const Facts& facts, std::string_view kind, const std::string& what,
                       Sink& sink);

}  // namespace opseal
