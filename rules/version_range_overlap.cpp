#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/sources.h"
#include "opseal/text.h"
#include "rules/kernel_key.h"
#include "rules/unread.h"
#include "rules/version_match.h"

namespace opseal {
namespace {

// Kernels before one that it is held against; ranges that follow each other need one.
constexpr std::size_t most_open = 16;
// Words of two lists that are held against each other.
constexpr std::uint64_t most_words = 4096;

bool share_a_word(const Fact& a, const Fact& b) {
  if (std::uint64_t{a.size()} * b.size() > most_words) return false;
  for (const Fact word : a.items()) {
    for (const Fact other : b.items()) {
      if (word.is_text() && word.name() == other.name()) return true;
    }
  }
  return false;
}

// What couldn't be read may tell two kernels apart.
bool selection_unread(const Fact& kernel) {
  for (const Fact member : kernel.items()) {
    if (is_unread(member)) return true;
  }
  return is_partly_unread(kernel[Key::type_constraints]);
}

// Some call suits both kernels: each type variable that both restrict has a dtype in common.
bool types_meet(const Fact& a, const Fact& b) {
  const Fact variables = a[Key::type_constraints];
  const Fact others = b[Key::type_constraints];
  if (variables.said() != others.said() || others.size() > 64) return false;
  for (const EntryRange::Entry entry : variables.entries()) {
    const Fact other = others.at(entry.name.text());
    if (other.said() && !share_a_word(entry.value, other)) return false;
  }
  const Fact dtypes = a[Key::dtypes];
  if (dtypes.said() != b[Key::dtypes].said()) return false;
  if (dtypes.said() && !share_a_word(dtypes, b[Key::dtypes])) return false;
  return hash_of(a[Key::signatures]) == hash_of(b[Key::signatures]);
}

// Of a source, types that aren't said are those that its text alone doesn't tell.
bool types_said(const Fact& manifest, const Fact& kernel) {
  return !is_of_sources(manifest) || kernel[Key::type_constraints].said();
}

// Nothing else that a registry selects by tells the two apart.
bool compete(const Fact& manifest, const Fact& a, const Fact& b) {
  if (may_be_alternatives(manifest, a, b)) return false;
  if (!types_said(manifest, a) || !types_said(manifest, b)) return false;
  if (selection_unread(a) || selection_unread(b)) return false;
  for (const Key key : {Key::backend, Key::params, Key::priority, Key::semantics, Key::source,
                        Key::capabilities, Key::layout}) {
    if (hash_of(a[key]) != hash_of(b[key])) return false;
  }
  return types_meet(a, b);
}

// The lowest version that both serve, of those that count.
std::optional<std::uint32_t> shared_version(const VersionGroup& group, const ServedRange& a,
                                            const ServedRange& b) {
  const std::uint32_t from = std::max(a.since, b.since);
  const std::uint32_t to = std::min(a.until, b.until);
  if (from > to) return {};
  if (!group.match.only_schema_versions || group.schemas.empty()) return from;
  const auto schema = std::lower_bound(
      group.schemas.begin(), group.schemas.end(), from,
      [](const SchemaVersion& known, std::uint32_t wanted) { return known.version < wanted; });
  if (schema == group.schemas.end() || schema->version > to) return {};
  return schema->version;
}

void check_platform(const VersionGroup& group, RangeIterator first, RangeIterator end, Sink& sink) {
  if (std::count_if(first, end, [](const ServedRange& range) { return !range.assumed; }) < 2) {
    return;
  }
  sink.inspected();
  std::vector<RangeIterator> open;
  for (auto range = first; range != end; ++range) {
    if (range->assumed) continue;
    std::erase_if(open, [&](RangeIterator earlier) { return earlier->until < range->since; });
    for (const RangeIterator earlier : open) {
      // The same range twice is `duplicate-kernel-at-key`.
      if (earlier->since == range->since && earlier->until == range->until) continue;
      const std::optional<std::uint32_t> version = shared_version(group, *earlier, *range);
      if (!version || !compete(group.manifest, earlier->kernel, range->kernel)) continue;
      Finding& finding =
          sink.add(subject_of(group.manifest, range->op),
                   "two kernels of " + quote(range->kernel[Key::platform].text()) +
                       " serve version " + std::to_string(*version),
                   evidence(versions_of(*range), "the later range" + site_of(range->kernel)));
      finding.related.push_back(
          evidence(versions_of(*earlier), "the earlier range" + site_of(earlier->kernel)));
      return;
    }
    if (open.size() == most_open) open.erase(open.begin());
    open.push_back(range);
  }
}

void check(const Facts& facts, Sink& sink) {
  for_each_version_group(facts, [&sink](const VersionGroup& group) {
    for_each_platform(group, [&](RangeIterator first, RangeIterator end) {
      check_platform(group, first, end, sink);
    });
  });
}

}  // namespace

extern constinit const Rule version_range_overlap{
    .id = "version-range-overlap",
    .title = "two kernels serve one version of an operator on one platform",
    .rationale =
        "The ranges of two kernels overlap and nothing else tells them apart: platform, backend, "
        "dtypes and everything that a registry selects by are equal. Which one runs is decided by "
        "the order of registration, so that a model of that version can give other results after "
        "a build that did nothing but reorder files; some registries refuse the second and fail "
        "to start.",
    .example =
        R"({"name": "Pad", "kernels": [{"platform": "cpu", "versions": {"since": 7, "until": 11}}, {"platform": "cpu", "versions": {"since": 11, "until": 12}}]})",
    .fix = "end the earlier range before the later one begins",
    .severity = Severity::error,
    .inspects = "operator and platform with two or more kernels that state versions",
    .needs = {Key::operators, Key::kernels, Key::versions, Key::since},
    .check = check,
};

}  // namespace opseal
