#include "opseal/arg_spec.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

constexpr std::string_view words[] = {"arg", "ret", "stream", "attr.", "ctx.stream"};

void check(const Facts& facts, Sink& sink) {
  for_each_spec(facts, [&sink](const Fact& manifest, const Fact& target, const Fact& spec) {
    for_each_spec_token(spec, [&](const Fact& word, const SpecToken& token) {
      // XLA's execution context holds more than the stream (scratch memory, thread pool), and its
      // bindings take what is left over.
      const bool of_xla = token.kind == SpecKind::context || token.rest || token.optional;
      if (of_xla && !manifest[Key::system].is("brainevent")) return;
      sink.inspected();
      if (token.kind != SpecKind::bad && !of_xla) return;
      Finding& finding = sink.add(
          std::string(target[Key::name].text()),
          quote(token.text) + " in the spec is none of `arg`, `ret`, `stream`, `attr.NAME:TYPE`" +
              did_you_mean(token.text, words),
          evidence(word, "token stands here"));
      finding.related.push_back(evidence(target[Key::name], "target named here" + site_of(target)));
    });
  });
}

}  // namespace

extern constinit const Rule spec_bad_token{
    .id = "spec-bad-token",
    .title = "argument spec with a token that the grammar lacks",
    .rationale =
        "The wrapper around a function is generated from its spec, token by token. One that is not "
        "in the grammar is refused when the library is built, or left out, and then the wrapper "
        "passes fewer parameters than the function reads.",
    .example = R"({"name": "lib.f", "spec": ["arg", "return"]})",
    .fix = "use `arg`, `ret`, `stream` or `attr.NAME:TYPE`",
    .severity = Severity::error,
    .inspects = "token of an argument spec",
    .needs = {Key::spec},
    .check = check,
};

}  // namespace opseal
