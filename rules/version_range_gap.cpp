#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/sources.h"
#include "opseal/text.h"
#include "rules/version_match.h"

namespace opseal {
namespace {

// "8", "8 to 10".
std::string versions_text(std::uint32_t first, std::uint32_t last) {
  std::string text = std::to_string(first);
  if (first != last) text += " to " + std::to_string(last);
  return text;
}

class GapCheck {
 public:
  GapCheck(const VersionGroup& group, Sink& sink)
      : group_(group), sink_(sink), schemas_(group.schemas) {
    if (schemas_.empty() && group.match.only_schema_versions) take_versions_of_kernels();
  }

  void run() {
    // One stated version says nothing about the numbers around it.
    const bool by_schema = schemas_.size() > 1;
    if (!by_schema && group_.match.only_schema_versions) return;
    for_each_platform(group_, [&](RangeIterator first, RangeIterator end) {
      // What a kernel left open may be just what is missing.
      if (std::any_of(first, end, [](const ServedRange& range) { return range.assumed; })) return;
      if (by_schema) {
        check_schemas(first, end);
      } else if (end - first > 1) {
        check_numbers(first, end);
      }
    });
  }

 private:
  // Sources say no schemas; but where some kernel begins, a schema did, and who serves the versions
  // around it leaves that one out.
  void take_versions_of_kernels() {
    if (!is_of_sources(group_.manifest) || is_partial_tree(group_.manifest)) return;
    for (const std::vector<ServedRange>* ranges : {&group_.ranges, &group_.everywhere}) {
      for (const ServedRange& range : *ranges) {
        if (!range.assumed && witnesses_.emplace(range.since, &range).second)
          schemas_.push_back({range.since, range.op, true, false});
      }
    }
    std::sort(schemas_.begin(), schemas_.end(),
              [](const SchemaVersion& a, const SchemaVersion& b) { return a.version < b.version; });
  }

  void check_schemas(RangeIterator first, RangeIterator end) {
    const SchemaVersion* missing = nullptr;
    const SchemaVersion* last_missing = nullptr;
    // Of the versions since the last served one.
    const SchemaVersion* pending = nullptr;
    const SchemaVersion* last_pending = nullptr;
    bool served = false;
    for (const SchemaVersion& schema : schemas_) {
      if (serves(first, end, schema.version)) {
        if (missing == nullptr && pending != nullptr) {
          missing = pending;
          last_missing = last_pending;
        }
        served = true;
        pending = nullptr;
      } else if (served && schema.expected && !schema.function_body &&
                 !served_everywhere(group_, schema.version)) {
        if (pending == nullptr) pending = &schema;
        last_pending = &schema;
      }
    }
    if (!served) return;
    sink_.inspected();
    if (missing == nullptr) return;
    const auto after = std::find_if(
        first, end, [missing](const ServedRange& range) { return range.since > missing->version; });
    Finding& finding = report(first, after, missing->version, last_missing->version, missing->op);
    const auto witness = witnesses_.find(missing->version);
    if (witness != witnesses_.end()) {
      const Fact kernel = witness->second->kernel;
      finding.related.push_back(
          evidence(kernel, quote(kernel[Key::platform].text()) + " has it" + site_of(kernel)));
      return;
    }
    finding.related.push_back(evidence(missing->op[Key::versions],
                                       "the version that has no kernel" + site_of(missing->op)));
  }

  void check_numbers(RangeIterator first, RangeIterator end) {
    sink_.inspected();
    for (auto range = first + 1; range != end; ++range) {
      const std::uint32_t reach = (range - 1)->reach;
      if (range->since <= std::uint64_t{reach} + 1) continue;
      // The hole may be closed at either end by a kernel for every platform.
      std::uint32_t from = reach + 1;
      std::uint32_t to = range->since - 1;
      if (served_everywhere(group_, from) || served_everywhere(group_, to)) continue;
      report(first, range, from, to, range->op);
      return;
    }
  }

  // `after`: the first range behind the hole.
  Finding& report(RangeIterator first, RangeIterator after, std::uint32_t from, std::uint32_t to,
                  const Fact& op) {
    RangeIterator before = after - 1;
    while (before != first && before->until != before->reach) --before;
    Finding& finding = sink_.add(
        subject_of(group_.manifest, op),
        quote(after->kernel[Key::platform].text()) + " serves versions before and after " +
            versions_text(from, to) + " and not " + (from == to ? "that one" : "those"),
        evidence(versions_of(*before), "versions end here" + site_of(before->kernel)));
    finding.related.push_back(
        evidence(versions_of(*after), "they go on here" + site_of(after->kernel)));
    if (group_.match.open_end_is_exact && before->kernel[Key::versions][Key::until].is_null()) {
      finding.fix = "state where the range ends: an open end serves its first version only";
    }
    return finding;
  }

  const VersionGroup& group_;
  Sink& sink_;
  std::vector<SchemaVersion> schemas_;
  // Versions that only kernels tell of, with one that begins there.
  std::map<std::uint32_t, const ServedRange*> witnesses_;
};

void check(const Facts& facts, Sink& sink) {
  for_each_version_group(facts, [&sink](const VersionGroup& group) {
    if (group.whole) GapCheck(group, sink).run();
  });
}

}  // namespace

extern constinit const Rule version_range_gap{
    .id = "version-range-gap",
    .title = "kernels leave out a version of an operator between two that they serve",
    .rationale =
        "The ranges of an operator's kernels on one platform are meant to follow each other, and "
        "one ends before the next begins. Models of the version in between fail to load there, "
        "while older and newer ones work, so that the error looks like a fault of the model. In "
        "ONNX Runtime an open end that was never closed does the same, since it serves its first "
        "version only.",
    .example =
        R"({"name": "Pad", "kernels": [{"platform": "cpu", "versions": {"since": 7, "until": 8}}, {"platform": "cpu", "versions": {"since": 11, "until": 12}}]})",
    .fix =
        "extend the earlier range to the version before the later one, or register the kernel "
        "that is missing",
    .severity = Severity::error,
    .inspects = "operator and platform whose kernels all state their versions",
    .needs = {Key::operators, Key::kernels, Key::versions, Key::since},
    .check = check,
};

}  // namespace opseal
