#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/two_dumps.h"

namespace opseal {

// The severity of an equal name for two contents, or false where that is no mistake: a name that
// somebody chose is an interface, whose code may change with a release.
static bool judge(const RegisteredPair& pair, Severity& severity) {
  const Fact from = pair.after.item[Key::name_from];
  if (from.is("content") || pair.before.item[Key::name_from].is("content")) return true;
  if (compare_releases(pair.before.manifest, pair.after.manifest) != Release::same) return false;
  if (from.is("explicit")) severity = Severity::warning;
  return true;
}

static void check(const Facts& facts, Sink& sink) {
  for (const RegisteredPair& pair : pair_targets(facts).pairs) {
    const Fact then = pair.before.item[Key::content];
    const Fact now = pair.after.item[Key::content];
    Severity severity = Severity::error;
    if (!then.is_text() || !now.is_text() || !judge(pair, severity)) continue;
    sink.inspected();
    if (then.name() == now.name()) continue;
    Finding& finding = sink.add(
        std::string(pair.after.item[Key::name].text()),
        "content " + quote(now.text()) + " under a name that stood for " + quote(then.text()),
        evidence(now, "the content in the second dump"));
    finding.severity = severity;
    finding.related.push_back(
        evidence(then, "the content in the first dump" + site_of(pair.before.item)));
  }
}

extern constinit const Rule name_content_collision{
    .id = "name-content-collision",
    .title = "one target name stands for two contents",
    .rationale =
        "Stored programs and caches find code by the name of its target. Where edited code keeps "
        "the name, or two processes of one release give one name to different code, a program that "
        "was made for the old code calls the new one. Nothing raises, and the result is that of "
        "another kernel.",
    .example =
        R"({"before": {"opseal_manifest": 1, "targets": [{"name": "call_ab", "name_from": "content", "content": "1"}]}, "after": {"opseal_manifest": 1, "targets": [{"name": "call_ab", "name_from": "content", "content": "2"}]}})",
    .fix = "put everything that the code is made of into the digest that gives the name",
    .severity = Severity::error,
    .two_dumps = true,
    .inspects =
        "target of both dumps with content ids, whose name should follow its content or is "
        "of one release",
    .needs = {Key::targets, Key::content},
    .check = check,
};

}  // namespace opseal
