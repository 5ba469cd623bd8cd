#include <algorithm>

#include "opseal/platforms.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/kernel_key.h"
#include "rules/required_platform.h"

namespace opseal {
namespace {

void report_required(const Fact& manifest, const Fact& op, const Fact& platform,
                     PlatformNames& names, Sink& sink) {
  Fact stub;
  for (const Fact word : op[Key::stub_platforms].items()) {
    if (names.reaches(platform, word)) stub = word;
  }
  for (const Fact kernel : op[Key::kernels].items()) {
    if (kernel[Key::stub].truth() && names.reaches(platform, kernel[Key::platform])) stub = kernel;
  }
  Finding& finding =
      sink.add(subject_of(manifest, op),
               "the lowering for the required platform " + quote(platform.text()) + " only raises",
               evidence(stub, "stub stated here" + site_of(op)));
  finding.severity = Severity::error;
  finding.related.push_back(evidence(platform, "required here"));
}

// Nobody has more; keeps hostile input from costing the square of its kernels.
constexpr std::size_t most_platforms = 64;

// A kernel row that claims a platform whose lowering is a stub: either the row is the stub, or the
// stub hides it.
void check_rows(const Fact& manifest, const Fact& op, const std::vector<Fact>& required,
                PlatformNames& names, Sink& sink) {
  const auto is_required = [&](const Fact& platform) {
    for (const Fact other : required) {
      if (names.reaches(other, platform)) return true;
    }
    return false;
  };
  std::vector<Name> judged;
  for (const Fact kernel : op[Key::kernels].items()) {
    const Fact platform = kernel[Key::platform];
    if (!is_active_kernel(kernel) || !platform.is_text()) continue;
    if (std::find(judged.begin(), judged.end(), platform.name()) != judged.end()) continue;
    judged.push_back(platform.name());
    if (judged.size() > most_platforms) return;
    if (!kernel[Key::stub].truth()) {
      for (const Fact word : op[Key::stub_platforms].items()) {
        if (!names.same(word, platform)) continue;
        Finding& finding = sink.add(subject_of(manifest, op),
                                    "a kernel is registered on " + quote(platform.text()) +
                                        ", and the lowering there only raises",
                                    evidence(word, "stub stated here"));
        finding.related.push_back(evidence(kernel, "kernel registered here" + site_of(kernel)));
        return;
      }
      continue;
    }
    if (is_required(platform) || service_of(manifest, op, platform, names) != Service::stub) {
      continue;
    }
    sink.add(subject_of(manifest, op),
             "the only kernel on " + quote(platform.text()) + " is a stub that raises",
             evidence(kernel, "stub registered here" + site_of(kernel)));
    return;
  }
}

void check_operator(const Fact& manifest, const Fact& op, const std::vector<Fact>& required,
                    PlatformNames& names, Sink& sink) {
  const Fact stubs = op[Key::stub_platforms];
  if (!kernels_known(op)) return;
  bool says_stub = stubs.is_list();
  for (const Fact kernel : op[Key::kernels].items()) {
    says_stub = says_stub || kernel[Key::stub].is_truth();
  }
  if (!says_stub) return;
  sink.inspected();
  for (const Fact platform : required) {
    if (service_of(manifest, op, platform, names) == Service::stub) {
      report_required(manifest, op, platform, names, sink);
    }
  }
  check_rows(manifest, op, required, names, sink);
}

void check(const Facts& facts, Sink& sink) {
  const auto said = [&](Key key) { return facts.said[static_cast<std::size_t>(key)]; };
  if (!said(Key::stub_platforms) && !said(Key::stub)) return;
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    PlatformNames names(manifest);
    const std::vector<Fact> required = required_platforms(facts, manifest, names);
    for (const Fact op : manifest[Key::operators].items()) {
      if (op.said()) check_operator(manifest, op, required, names, sink);
    }
  }
}

}  // namespace

extern constinit const Rule stub_lowering{
    .id = "stub-lowering",
    .title = "lowering without a kernel behind it",
    .rationale =
        "A stub makes a platform look served: the framework finds a lowering, tools count it, and "
        "the first call raises. That is a good error message where nobody expects the platform to "
        "work. Where the platform is required, or a kernel row claims it, the promise is broken.",
    .example =
        R"({"name": "mv", "kernels": [{"platform": "cpu"}, {"platform": "gpu", "stub": true}]})",
    .fix = "register a kernel in place of the stub, or take the platform out of what is claimed",
    .severity = Severity::warning,
    .inspects = "operator that says which of its lowerings are stubs",
    .needs = {Key::operators, Key::kernels},
    .check = check,
};

}  // namespace opseal
