#include <map>

#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/two_dumps.h"

namespace opseal {

// Canonical platform -> the backend that serves it by default.
static std::map<std::string_view, Fact> defaults_of(const Registered& registered,
                                                    PlatformNames& names) {
  std::map<std::string_view, Fact> defaults;
  for (const EntryRange::Entry entry : registered.item[Key::defaults].entries()) {
    if (entry.value.is_text()) defaults[names.of(entry.name).name] = entry.value;
  }
  return defaults;
}

static void check_pair(Sink& sink, const RegisteredPair& pair, NamesByManifest& names) {
  if (!pair.before.item[Key::defaults].is_map() || !pair.after.item[Key::defaults].is_map()) return;
  const auto before = defaults_of(pair.before, names.of(pair.before.manifest));
  const auto after = defaults_of(pair.after, names.of(pair.after.manifest));
  for (const auto& [platform, then] : before) {
    const auto found = after.find(platform);
    if (found == after.end()) continue;
    sink.inspected();
    const Fact now = found->second;
    if (now.name() == then.name()) continue;
    Finding& finding = sink.add(subject_of(pair.after.manifest, pair.after.item),
                                "default on " + quote(platform) + " is " + quote(now.text()) +
                                    ", expected " + quote(then.text()),
                                evidence(now, "the second dump" + site_of(pair.after.item)));
    finding.related.push_back(evidence(then, "the first dump" + site_of(pair.before.item)));
  }
}

static void check(const Facts& facts, Sink& sink) {
  NamesByManifest names;
  for (const RegisteredPair& pair : pair_operators(facts).pairs) check_pair(sink, pair, names);
}

extern constinit const Rule default_changed{
    .id = "default-changed",
    .title = "default backend of a platform is another one in the second dump",
    .rationale =
        "Whoever names no backend gets another kernel after the update: the speed changes, and so "
        "may the last bits of the result, the dtypes that are taken and the library that must be "
        "installed.",
    .example =
        R"({"before": {"opseal_manifest": 1, "operators": [{"name": "mv", "defaults": {"gpu": "cuda"}}]}, "after": {"opseal_manifest": 1, "operators": [{"name": "mv", "defaults": {"gpu": "triton"}}]}})",
    .fix = "tell users of the change, with the call that names the old backend",
    .severity = Severity::warning,
    .profile = Profile::strict,
    .two_dumps = true,
    .inspects = "platform for which both dumps say an operator's default backend",
    .needs = {Key::operators, Key::defaults},
    .check = check,
};

}  // namespace opseal
