#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {

static void compare(const Fact& manifest, const Fact& op, const Fact& kernel, const Fact& found,
                    const std::string& expected, Sink& sink) {
  if (!found.is_text() || found.is(expected)) return;
  const bool version = found.key() == Key::version;
  const std::string what = version ? "version" : "name";
  Finding& finding = sink.add(
      subject_of(manifest, op),
      quote(kernel[Key::built][Key::function][Key::name].text()) + " is stored under the " + what +
          " " + quote(found.text()) + ", expected " + quote(expected) + ", that of " +
          quote(kernel[Key::function][Key::name].text()) + ", which is to read it",
      evidence(found, "the " + what + " that is stored"));
  finding.related.push_back(
      evidence(version ? kernel[Key::versions][Key::since] : op[Key::name], "the creator"));
}

static void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    for (const Fact op : manifest[Key::operators].items()) {
      for (const Fact kernel : op[Key::kernels].items()) {
        const Fact built = kernel[Key::built];
        if (!built.said()) continue;
        const Fact since = kernel[Key::versions][Key::since];
        const bool versions = built[Key::version].is_text() && since.is_count();
        if (!built[Key::name].is_text() && !versions) continue;
        sink.inspected();
        compare(manifest, op, kernel, built[Key::name], std::string(op[Key::name].text()), sink);
        if (versions)
          compare(manifest, op, kernel, built[Key::version], std::to_string(since.count()), sink);
      }
    }
  }
}

extern constinit const Rule stored_name_mismatch{
    .id = "stored-name-mismatch",
    .title = "a plugin is stored under another name than that of its creator",
    .rationale =
        "An engine stores of each plugin the name and version that the plugin gives, and asks the "
        "registry for a creator of that name and version when it is loaded. Where the creator "
        "gives other ones, the engine builds and runs, and can't be loaded again.",
    .example =
        R"({"opseal_manifest": 1, "system": "tensorrt", "operators": [{"name": "Roll_TRT", "kernels": [{"platform": "any", "function": {"name": "RollCreator"}, "built": {"name": "Roll", "function": {"name": "Roll"}}}]}]})",
    .fix = "have the plugin and its creator give one name and one version",
    .severity = Severity::error,
    .inspects = "creator whose plugin is known to give a name or version",
    .check = check,
};

}  // namespace opseal
