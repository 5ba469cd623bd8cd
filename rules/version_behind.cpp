#include <string>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/version_match.h"

namespace opseal {
namespace {

// A kernel of another platform that serves the version, or none.
const ServedRange* served_elsewhere(const VersionGroup& group, std::string_view platform,
                                    std::uint32_t version) {
  for (const ServedRange& range : group.ranges) {
    if (range.platform != platform && !range.assumed && range.since <= version &&
        version <= range.until) {
      return &range;
    }
  }
  return nullptr;
}

// Where versions can run as function bodies and nobody said which do, as in a walk without the
// package that knows them.
bool bodies_unknown(const Fact& manifest) {
  return manifest[Key::system].is("onnxruntime") &&
         !manifest.facts().said[static_cast<std::size_t>(Key::function_body)];
}

void check_platform(const VersionGroup& group, RangeIterator first, RangeIterator end, Sink& sink) {
  const ServedRange& last = furthest(first, end);
  // The newest schema version that the platform serves, and the newest that it doesn't.
  const SchemaVersion* served = nullptr;
  const SchemaVersion* missing = nullptr;
  const SchemaVersion* missing_with_body = nullptr;
  for (auto schema = group.schemas.rbegin(); schema != group.schemas.rend(); ++schema) {
    if (serves(first, end, schema->version)) {
      served = &*schema;
      break;
    }
    if (!schema->expected || served_everywhere(group, schema->version)) continue;
    const SchemaVersion*& newest = schema->function_body ? missing_with_body : missing;
    if (newest == nullptr) newest = &*schema;
  }
  const bool body_serves = missing == nullptr;
  const SchemaVersion* newest = body_serves ? missing_with_body : missing;
  // Where numbers between schema versions count too, older kernels are enough.
  if (served == nullptr && (group.match.only_schema_versions || newest == nullptr || last.assumed ||
                            last.until >= newest->version)) {
    return;
  }
  sink.inspected();
  if (newest == nullptr) return;
  const bool by_number = !group.match.only_schema_versions && last.until < newest->version;
  const std::uint32_t end_version = by_number || served == nullptr ? last.until : served->version;
  // Where the kernel itself states an end, readers look for that number.
  const bool stated = versions_of(last)[Key::until].is_count() && last.until < newest->version;
  Finding& finding = sink.add(
      subject_of(group.manifest, newest->op),
      quote(last.kernel[Key::platform].text()) + " serves no version after " +
          std::to_string(stated ? last.until : end_version) + ", the newest is " +
          std::to_string(newest->version) + (body_serves ? ", which runs as a function body" : ""),
      evidence(versions_of(last), "the last versions served" + site_of(last.kernel)));
  if (body_serves) {
    finding.severity = Severity::note;
  } else if (bodies_unknown(group.manifest)) {
    finding.severity = Severity::warning;
    finding.fix =
        "export again with the `onnx` package installed, which says whether this version runs as "
        "a function body; if not, export models for version " +
        std::to_string(end_version);
  } else {
    finding.fix = "register a kernel for version " + std::to_string(newest->version) +
                  ", or export models for version " + std::to_string(end_version);
  }
  finding.related.push_back(
      evidence(newest->op[Key::versions], "the newest schema version" + site_of(newest->op)));
  if (const ServedRange* other = served_elsewhere(group, last.platform, newest->version)) {
    finding.related.push_back(evidence(
        versions_of(*other),
        quote(other->kernel[Key::platform].text()) + " serves it" + site_of(other->kernel)));
  }
}

// Something was registered under the name of which it isn't known where.
bool may_be_undecided(const VersionGroup& group, const Fact& op) {
  for (const Fact one : group.manifest[Key::tree][Key::undecided].items()) {
    if (one[Key::name].name() == op[Key::name].name()) return true;
  }
  return false;
}

// ONNX Runtime's CPU serves what no other provider takes, and a kernel of another one that starts
// at a version shows that there is such a version.
void check_by_others(const VersionGroup& group, RangeIterator first, RangeIterator end,
                     Sink& sink) {
  if (!group.match.only_schema_versions || first->platform != "cpu") return;
  if (!first->op[Key::namespace_].is("ai.onnx") || !group.everywhere.empty()) return;
  const auto is_assumed = [](const ServedRange& range) { return range.assumed; };
  if (std::any_of(group.ranges.begin(), group.ranges.end(), is_assumed)) return;
  const ServedRange& last = furthest(first, end);
  const ServedRange* newest = nullptr;
  for (const ServedRange& range : group.ranges) {
    if (newest == nullptr || range.since > newest->since) newest = &range;
  }
  if (newest == nullptr) return;
  sink.inspected();
  if (newest->since <= last.until || may_be_undecided(group, last.op)) return;
  Finding& finding =
      sink.add(subject_of(group.manifest, last.op),
               quote(last.kernel[Key::platform].text()) + " serves no version after " +
                   std::to_string(last.until) + ", " + quote(newest->kernel[Key::platform].text()) +
                   " has a kernel for " + std::to_string(newest->since),
               evidence(versions_of(last), "the last versions served" + site_of(last.kernel)));
  finding.severity = Severity::warning;
  finding.related.push_back(
      evidence(versions_of(*newest), "the newer version" + site_of(newest->kernel)));
  if (last.kernel[Key::versions][Key::until].is_null()) {
    finding.fix = "end the range before version " + std::to_string(newest->since) +
                  ", and register the kernel for that version, too";
  }
}

void check(const Facts& facts, Sink& sink) {
  for_each_version_group(facts, [&sink](const VersionGroup& group) {
    if (!group.whole) return;
    for_each_platform(group, [&](RangeIterator first, RangeIterator end) {
      if (group.schemas.empty()) {
        check_by_others(group, first, end, sink);
      } else {
        check_platform(group, first, end, sink);
      }
    });
  });
}

}  // namespace

extern constinit const Rule version_behind{
    .id = "version-behind",
    .title = "platform has kernels for older versions of an operator and none for the newest",
    .rationale =
        "When the schema of an operator gets a new version, each platform needs a kernel for it. "
        "Here the platform kept its old one. A model that was exported with current tools asks for "
        "the newest version: it fails to load, though the same model of last year runs, or the "
        "node silently moves to another device. In ONNX Runtime an open end doesn't help, since a "
        "kernel registered from version 9 on serves 9 and nothing else until its end is stated. "
        "Where the new version has a function body, the model runs, slower: then this is a note. "
        "In "
        "sources, which state no schema versions, a newer kernel of another provider shows that "
        "there is one, and the CPU, to which all others leave what they lack, is held against it.",
    .example =
        R"({"name": "EyeLike", "versions": {"since": 22, "until": null}, "kernels": [{"platform": "cpu", "versions": {"since": 9, "until": 21}}]})",
    .fix = "register a kernel for the newest version, or extend the last one's range over it",
    .severity = Severity::error,
    .inspects = "operator and platform with a kernel for some stated schema version",
    .needs = {Key::operators, Key::kernels, Key::versions, Key::since},
    .check = check,
};

}  // namespace opseal
