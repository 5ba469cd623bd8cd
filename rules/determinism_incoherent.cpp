#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {

static void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    for (const Fact kernel : op[Key::kernels].items()) {
      const Fact determinism = kernel[Key::determinism];
      const Fact stable = kernel[Key::precision][Key::bit_stable];
      if (!determinism.is_text() || !stable.is_truth()) continue;
      sink.inspected();
      const bool repeats = !determinism.is("nondeterministic");
      if (repeats == stable.truth()) continue;
      Finding& finding = sink.add(
          subject_of(manifest, op),
          "kernel for " + decision_text(kernel) + " is said to be " + quote(determinism.text()) +
              (repeats ? ", and not to be bit-stable" : ", and to be bit-stable"),
          evidence(determinism, "determinism said here" + site_of(kernel)));
      finding.related.push_back(evidence(stable, "bit stability said here"));
      // Callers that rely on the claim are wrong only where the kernel is worse than it says.
      if (repeats) finding.severity = Severity::warning;
    }
  });
}

extern constinit const Rule determinism_incoherent{
    .id = "determinism-incoherent",
    .title = "kernel whose determinism and bit stability contradict each other",
    .rationale =
        "Two facts about a kernel say whether equal inputs give equal bits, and different readers "
        "go by different ones: a test compares bits where the precision says that they are stable, "
        "a scheduler picks by determinism. Where the two differ, one of the readers is told "
        "something wrong: a comparison of bits fails now and then, or a kernel is passed over for "
        "nothing.",
    .example = R"({"name": "scatter_add", "kernels": [{"platform": "gpu",)"
               R"( "determinism": "nondeterministic", "precision": {"bit_stable": true}}]})",
    .fix =
        "run the kernel twice on equal inputs, compare the bits, and say in both places what came "
        "out",
    .severity = Severity::error,
    .inspects = "kernel that says both its determinism and whether it is bit-stable",
    .needs = {Key::operators, Key::kernels, Key::determinism, Key::bit_stable},
    .check = check,
};

}  // namespace opseal
