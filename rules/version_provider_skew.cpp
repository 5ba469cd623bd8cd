#include <string>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/version_match.h"

namespace opseal {
namespace {

void check_group(const VersionGroup& group, Sink& sink) {
  // Where schema versions are stated, `version-behind` measures each platform by them.
  if (!group.schemas.empty() || !group.whole || !group.everywhere.empty()) return;
  const ServedRange* lowest = nullptr;
  const ServedRange* highest = nullptr;
  std::size_t platforms = 0;
  for_each_platform(group, [&](RangeIterator first, RangeIterator end) {
    if (std::any_of(first, end, [](const ServedRange& range) { return range.assumed; })) return;
    const ServedRange& last = furthest(first, end);
    ++platforms;
    if (lowest == nullptr || last.until < lowest->until) lowest = &last;
    if (highest == nullptr || last.until > highest->until) highest = &last;
  });
  if (platforms < 2) return;
  sink.inspected();
  if (lowest->until == highest->until) return;
  const bool open =
      highest->kernel[Key::versions][Key::until].is_null() && !group.match.open_end_is_exact;
  Finding& finding = sink.add(
      subject_of(group.manifest, lowest->op),
      quote(lowest->kernel[Key::platform].text()) + " stops at version " +
          std::to_string(lowest->until) + ", " + quote(highest->kernel[Key::platform].text()) +
          (open ? " has no end" : " goes on to " + std::to_string(highest->until)),
      evidence(versions_of(*lowest), "stops here" + site_of(lowest->kernel)));
  finding.related.push_back(evidence(versions_of(*highest), "goes on" + site_of(highest->kernel)));
}

void check(const Facts& facts, Sink& sink) {
  for_each_version_group(facts, [&sink](const VersionGroup& group) { check_group(group, sink); });
}

}  // namespace

extern constinit const Rule version_provider_skew{
    .id = "version-provider-skew",
    .title = "two platforms stop serving an operator at different versions",
    .rationale =
        "One platform followed the operator to its newest version and the other didn't. A model of "
        "that version runs on the first and fails on the second, or its node moves to the slower "
        "device without a word. No schema versions are stated, so whether the newest one matters "
        "yet can't be told; where they are, this is `version-behind`.",
    .example =
        R"({"name": "Pad", "kernels": [{"platform": "cpu", "versions": {"since": 1, "until": 15}}, {"platform": "cuda", "versions": {"since": 1, "until": 22}}]})",
    .fix = "register the newer version on both platforms",
    .severity = Severity::warning,
    .profile = Profile::strict,
    .inspects =
        "operator without stated schema versions whose kernels on two or more platforms all state "
        "theirs",
    .needs = {Key::operators, Key::kernels, Key::versions, Key::since},
    .check = check,
};

}  // namespace opseal
