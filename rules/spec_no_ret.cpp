#include "opseal/arg_spec.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// XLA itself allows a handler without results if the call is marked as having a side effect, and a
// handler of another stage than execute never has one.
bool may_lack_results(const Fact& manifest, const Fact& target) {
  if (is_plain_xla(manifest)) return true;
  if (target[Key::stages].is_list() && !list_has(target[Key::stages], "execute")) return true;
  for (const Fact trait : target[Key::traits].items()) {
    if (lower(trait.text()).find("effect") != std::string::npos) return true;
  }
  return false;
}

void check(const Facts& facts, Sink& sink) {
  for_each_spec(facts, [&sink](const Fact& manifest, const Fact& target, const Fact& spec) {
    if (may_lack_results(manifest, target)) return;
    bool readable = true;
    std::size_t results = 0;
    for_each_spec_token(spec, [&](const Fact&, const SpecToken& token) {
      if (token.kind == SpecKind::result) ++results;
      // Possibly a misspelt `ret`, which is another rule's finding.
      if (token.kind == SpecKind::bad) readable = false;
    });
    if (!readable) return;
    sink.inspected();
    if (results > 0) return;
    Finding& finding = sink.add(std::string(target[Key::name].text()),
                                "no `ret` in the spec, at least 1 is needed",
                                evidence(spec, "results counted here"));
    finding.related.push_back(evidence(target[Key::name], "target named here" + site_of(target)));
  });
}

}  // namespace

extern constinit const Rule spec_no_ret{
    .id = "spec-no-ret",
    .title = "argument spec without a result",
    .rationale =
        "The wrapper that is generated from a spec hands one buffer to the function for each "
        "`ret`. Without any, the function has nowhere to write: the builder refuses the spec, or "
        "the call is dropped as dead code, since nothing depends on it.",
    .example = R"({"name": "lib.f", "platform": "cpu", "spec": ["arg", "attr.n:int32"]})",
    .fix =
        "name each output buffer with `ret`; a function that works in place returns the buffer "
        "that it was given",
    .severity = Severity::error,
    .inspects = "target or annotation with an argument spec",
    .needs = {Key::spec},
    .check = check,
};

}  // namespace opseal
