#include "opseal/dtypes.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/kernel_key.h"
#include "rules/served_dtypes.h"

namespace opseal {
namespace {

// Words of two meanings (`int`) may be what the other dump spells out.
bool is_ambiguous(const Fact& word) {
  const Dtype* dtype = word.is_text() ? find_dtype(word.text()) : nullptr;
  return dtype != nullptr && !dtype->first.empty();
}

bool has_ambiguous(const ServedDtypes& served) {
  for (const ServedDtypes::Entry& entry : served.entries) {
    if (is_ambiguous(entry.where)) return true;
  }
  return false;
}

void compare(Sink& sink, const RegisteredPair& pair, const Platform& platform,
             const ServedDtypes& then, const ServedDtypes& now, const Fact& now_where) {
  if (!then.complete || !now.complete || has_ambiguous(then) || has_ambiguous(now)) return;
  sink.inspected();
  const std::vector<ServedDtypes::Entry> lost = lacking(then, now);
  if (lost.empty()) return;
  std::vector<std::string> texts;
  for (const ServedDtypes::Entry& entry : lost) texts.push_back(entry.text);
  Finding& finding =
      sink.add(subject_of(pair.after.manifest, pair.after.item),
               "no kernel on " + quote(platform.name) + " takes " + quote_list(texts) + " any more",
               evidence(now_where, "what the second dump takes" + site_of(pair.after.item)));
  finding.related.push_back(
      evidence(lost.front().where, "taken in the first dump" + site_of(pair.before.item)));
}

void check_pair(Sink& sink, const RegisteredPair& pair, NamesByManifest& names) {
  if (!kernels_known(pair.before.item) || !kernels_known(pair.after.item)) return;
  const auto before = serving_kernels(pair.before.item, names.of(pair.before.manifest));
  const auto after = serving_kernels(pair.after.item, names.of(pair.after.manifest));
  const std::vector<Platform> platforms = platforms_of(before);
  if (platforms.size() > most_platforms) return;
  for (const Platform& platform : platforms) {
    const std::vector<ServingKernel> then = kernels_reached(before, platform);
    const std::vector<ServingKernel> now = kernels_reached(after, platform);
    // A platform that is gone as a whole is another rule's business.
    if (then.empty() || now.empty()) continue;
    for (const Key key : {Key::dtypes, Key::type_constraints, Key::signatures}) {
      if (!then.front().kernel[key].said() || !now.front().kernel[key].said()) continue;
      compare(sink, pair, platform, served_dtypes(then, key, true), served_dtypes(now, key, false),
              now.front().kernel[key]);
    }
  }
}

void check(const Facts& facts, Sink& sink) {
  NamesByManifest names;
  for (const RegisteredPair& pair : pair_operators(facts).pairs) check_pair(sink, pair, names);
}

}  // namespace

extern constinit const Rule dtype_narrowed{
    .id = "dtype-narrowed",
    .title = "dtype that the first dump takes is not taken in the second",
    .rationale =
        "Models that ran with the dtype before the update fail after it, or are moved to another "
        "platform or converted on the way without a word, which costs speed and precision.",
    .example =
        R"({"before": {"opseal_manifest": 1, "operators": [{"name": "mv", "kernels": [{"platform": "cuda", "dtypes": ["f32", "f16"]}]}]}, "after": {"opseal_manifest": 1, "operators": [{"name": "mv", "kernels": [{"platform": "cuda", "dtypes": ["f32"]}]}]}})",
    .fix = "register a kernel for the dtype again, or say in the release notes that it is gone",
    .severity = Severity::error,
    .two_dumps = true,
    .inspects = "operator and platform of both dumps for which every kernel says its dtypes",
    .needs = {Key::operators, Key::kernels},
    .check = check,
};

}  // namespace opseal
