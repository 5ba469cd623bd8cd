#include "opseal/arg_spec.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {

static void check(const Facts& facts, Sink& sink) {
  for_each_spec(facts, [&sink](const Fact&, const Fact& target, const Fact& spec) {
    sink.inspected();
    Fact first;
    Fact second;
    std::size_t streams = 0;
    for_each_spec_token(spec, [&](const Fact& word, const SpecToken& token) {
      if (token.kind != SpecKind::stream) return;
      if (++streams == 1) first = word;
      if (streams == 2) second = word;
    });
    if (streams < 2) return;
    Finding& finding = sink.add(std::string(target[Key::name].text()),
                                std::to_string(streams) + " `stream` in the spec, at most 1 fits",
                                evidence(second, "stream asked for again here"));
    finding.related.push_back(evidence(first, "stream asked for first here" + site_of(target)));
  });
}

extern constinit const Rule spec_dup_stream{
    .id = "spec-dup-stream",
    .title = "argument spec with more than one stream",
    .rationale =
        "A call runs on one stream. A spec that names it twice is refused by the builder, or gives "
        "the function a parameter more than its code declares, so that every parameter behind it "
        "is read from the wrong place.",
    .example = R"({"name": "lib.f", "spec": ["stream", "arg", "ret", "ctx.stream"]})",
    .fix = "keep one `stream`",
    .severity = Severity::error,
    .inspects = "target or annotation with an argument spec",
    .needs = {Key::spec},
    .check = check,
};

}  // namespace opseal
