#include <algorithm>

#include "opseal/platforms.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/kernel_key.h"
#include "rules/required_platform.h"

namespace opseal {
namespace {

// Systems that list operators which never need a kernel of their own: JAX discharges them before
// lowering, torch composes them, ONNX keeps old versions.
bool empty_is_normal(const Fact& manifest) {
  const std::string_view system = manifest[Key::system].text();
  return system != "engine" && system != "brainevent" && system != "ggml" && system != "fuel" &&
         !system.empty();
}

void check_operator(const Fact& manifest, const Fact& op, const std::vector<Fact>& required,
                    PlatformNames& names, Sink& sink) {
  if (!kernels_known(op) || needs_no_kernel(op)) return;
  bool any_active = false;
  for (const Fact kernel : op[Key::kernels].items()) any_active |= is_active_kernel(kernel);
  if (!any_active && empty_is_normal(manifest)) return;
  std::vector<std::string> missing;
  Fact first;
  bool judged = false;
  for (const Fact platform : required) {
    const Service service = service_of(manifest, op, platform, names);
    judged = judged || service != Service::unknown;
    if (service != Service::nothing) continue;
    if (missing.empty()) first = platform;
    missing.emplace_back(platform.text());
  }
  if (!judged) return;
  sink.inspected();
  if (missing.empty()) return;
  std::vector<std::string> served;
  for (const Fact kernel : op[Key::kernels].items()) {
    std::string word(kernel[Key::platform].text());
    if (!is_active_kernel(kernel) || served.size() > 6) continue;
    const PlatformRole role = names.of(kernel[Key::platform]).role;
    if (role == PlatformRole::wrapper) continue;
    // Which member of the family it serves is the backend's to say.
    if (role == PlatformRole::family && kernel[Key::backend].is_text()) {
      word += ' ';
      word += kernel[Key::backend].text();
    }
    if (std::find(served.begin(), served.end(), word) == served.end()) served.push_back(word);
  }
  Finding& finding =
      sink.add(subject_of(manifest, op),
               "no kernel on " + quote_list(missing) +
                   (served.empty() ? ", and none elsewhere" : "; kernels on " + quote_list(served)),
               evidence(op[Key::kernels], "kernels listed here" + site_of(op)));
  finding.related.push_back(evidence(first, "required here"));
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    if (document.settings) continue;
    PlatformNames names(manifest);
    const std::vector<Fact> required = required_platforms(facts, manifest, names);
    if (required.empty()) continue;
    for (const Fact op : manifest[Key::operators].items()) {
      if (op.said()) check_operator(manifest, op, required, names, sink);
    }
  }
}

}  // namespace

extern constinit const Rule platform_empty{
    .id = "platform-empty",
    .title = "required platform without a kernel",
    .rationale =
        "The manifest or the configuration promises that every operator runs on this platform. An "
        "operator without a kernel there is accepted when it is registered, and whoever calls it "
        "on "
        "that platform gets an error about a missing lowering or implementation, often deep in a "
        "model.",
    .example =
        R"({"opseal_manifest": 1, "system": "engine", "required_platforms": ["gpu"],
 "operators": [{"name": "mv", "kernels": [{"platform": "cpu"}]}]})",
    .fix = "register a kernel for the platform, or stop requiring it",
    .severity = Severity::error,
    .inspects = "operator with stated kernels and a required platform",
    .needs = {Key::operators, Key::kernels, Key::required_platforms},
    .asked_by = Key::required_platforms,
    .check = check,
};

}  // namespace opseal
