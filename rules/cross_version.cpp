#include <string>

#include "opseal/text.h"
#include "rules/cross_signature.h"

namespace opseal {
namespace {

struct Version {
  Fact since;
  explicit operator bool() const { return since.is_count(); }
};

bool agree(const Version& a, const Version& b) { return a.since.count() == b.since.count(); }

std::string version_text(const Version& version) {
  return "version " + std::to_string(version.since.count());
}

void check(const Facts& facts, Sink& sink) {
  for (const CrossOperator& op : cross_operators(facts)) {
    hold_together(
        op, sink,
        [](const CrossColumn& column) {
          return Version{column.target ? Fact() : column.item[Key::versions][Key::since]};
        },
        agree,
        [&sink](const CrossColumn& reference, const CrossColumn& other, const Version& expected,
                const Version& found) {
          Finding& finding =
              sink.add(subject_of(other),
                       "newest " + column_text(other) + " is " + version_text(found) +
                           ", that of " + column_text(reference) + " is " + version_text(expected),
                       evidence(found.since, "newest version" + site_of(other.item)));
          finding.related.push_back(
              evidence(expected.since, "newest version" + site_of(reference.item)));
          add_join_evidence(reference, other, finding);
          finding.severity = severity_of_decision(reference, other);
        });
  }
}

}  // namespace

extern constinit const Rule cross_version{
    .id = "cross-version",
    .title = "newest version of an operator differs from another system's",
    .rationale =
        "A project that numbers the versions of an operator raises the number when its meaning "
        "changes. Where one framework's registration is at another number, that framework was "
        "not brought along: a model that was exported with the newer one is rejected there, or "
        "computed by the old meaning.",
    .example = R"({"opseal_manifest": 1, "joins": [["a::Rope", "b::Rope"]], "operators": [)"
               R"({"name": "Rope", "namespace": "a", "versions": {"since": 2, "until": null}},)"
               R"( {"name": "Rope", "namespace": "b", "versions": {"since": 1, "until": null}}]})",
    .fix = "register the newer version in both systems",
    .severity = Severity::warning,
    .profile = Profile::strict,
    .inspects = "operator that another system has too, both with versions",
    .needs = {Key::versions},
    .asked_by = Key::joins,
    .check = check,
};

}  // namespace opseal
