#include <string>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/cross_dtypes.h"
#include "rules/placement.h"
#include "rules/required_platform.h"

namespace opseal {
namespace {

std::vector<std::string> lacking(const PlatformDtypes& there, const PlatformDtypes& here) {
  std::vector<std::string> words;
  for (const PlatformDtypes::Taken& taken : there.taken) {
    // Text and handles stay on the host everywhere.
    if (taken.dtype->kind == DtypeKind::opaque) continue;
    if (!here.takes(*taken.dtype) && !here.refuses(*taken.dtype))
      words.emplace_back(taken.text.text());
  }
  return words;
}

// Both say all that they take.
bool comparable(const PlatformDtypes& a, const PlatformDtypes& b) {
  return a.complete && b.complete && !a.taken.empty() && !b.taken.empty() &&
         a.platform.role != PlatformRole::every && b.platform.role != PlatformRole::every;
}

void report(const Fact& manifest, const Fact& op, const PlatformDtypes& there,
            const PlatformDtypes& here, Sink& sink) {
  const std::vector<std::string> words = lacking(there, here);
  if (words.empty()) return;
  const std::string other = quote(there.written.text());
  const std::string own = quote(here.written.text());
  Finding& finding =
      sink.add(subject_of(manifest, op),
               own + " does not take " + quote_list(words) + ", " + other + " does",
               evidence(here.words, "dtypes of " + own + " listed here" + site_of(op)));
  finding.related.push_back(evidence(there.words, "dtypes of " + other + " listed here"));
}

void check_operator(const Fact& manifest, const Fact& op, DtypeWords& words, Sink& sink) {
  const std::vector<PlatformDtypes> sides = platform_dtypes(manifest, op, words);
  bool inspected = false;
  for (std::size_t at = 1; at < sides.size(); ++at) {
    if (!comparable(sides.front(), sides[at])) continue;
    inspected = true;
    report(manifest, op, sides.front(), sides[at], sink);
    report(manifest, op, sides[at], sides.front(), sink);
  }
  if (inspected) sink.inspected();
}

void check(const Facts& facts, Sink& sink) {
  DtypeWords words(facts);
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    // Elsewhere `dtype-gap` tells it, as what fails.
    if (!places_per_operator(manifest)) continue;
    for (const Fact op : manifest[Key::operators].items()) {
      if (op.said() && !needs_no_kernel(op)) check_operator(manifest, op, words, sink);
    }
  }
}

}  // namespace

extern constinit const Rule cross_provider_gap{
    .id = "cross-provider-gap",
    .title = "operator takes a dtype with one provider that it does not take with another",
    .rationale =
        "A runtime that places each operator where it finds a kernel hides such a hole: nothing "
        "fails, and the values travel to the other device and back around that one operator. It "
        "shows as time, or as a model that runs with one provider and is rejected with another.",
    .example = R"({"opseal_manifest": 1, "system": "onnxruntime", "operators": [{"name": "Erf", )"
               R"("kernels": [{"platform": "CPUExecutionProvider", "dtypes": ["f32", "f64"]},)"
               R"( {"platform": "CUDAExecutionProvider", "dtypes": ["f32"]}]}]})",
    .fix = "add the kernel, or keep the dtype out of models that must stay on one device",
    .severity = Severity::note,
    .profile = Profile::audit,
    .inspects = "newest version of an operator with kernels of two providers that state dtypes",
    .needs = {Key::operators, Key::kernels, Key::platform, Key::system},
    .check = check,
};

}  // namespace opseal
