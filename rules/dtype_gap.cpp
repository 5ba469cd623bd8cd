#include "opseal/registration.h"
#include "opseal/rule.h"
#include "rules/dtype_grid.h"

namespace opseal {
namespace {

void report(const Fact& manifest, const Fact& op, const Gap& gap, Sink& sink) {
  const std::string_view platform = op.facts().names.text(gap.platform);
  if (platform == "any") return;
  const bool required = is_required_platform(manifest, platform);
  // What the platform lacks, somebody else takes over.
  if (!required && (places_per_operator(manifest) || op[Key::fallback].size() > 0 ||
                    list_has(manifest[Key::backend_fallbacks], platform))) {
    return;
  }
  std::vector<std::string> dtypes;
  for (const Gap::Lacking& lacking : gap.dtypes) {
    if (!is_grid_hole(manifest, op, gap, lacking)) dtypes.emplace_back(lacking.dtype.text());
  }
  if (dtypes.empty()) return;
  Finding& finding = add_gap(manifest, op, gap, std::move(dtypes), sink);
  if (required && gap.promised) finding.severity = Severity::error;
}

void check(const Facts& facts, Sink& sink) { check_gaps(facts, sink, report); }

}  // namespace

extern constinit const Rule dtype_gap{
    .id = "dtype-gap",
    .title = "operator takes a dtype on one platform and not on another",
    .rationale =
        "A program that was written and tested on one device fails on the next for want of a "
        "kernel, or moves the work back to the first. Such holes are often forgotten rather than "
        "chosen: one line of a registration macro has a shorter list than its neighbour.",
    .example = R"({"name": "mv", "kernels": [{"platform": "cpu", "dtypes": ["f32", "f64"]},)"
               R"( {"platform": "gpu", "dtypes": ["f32"]}]})",
    .fix =
        "add the kernel; a manifest may list the dtype under the other kernel's `refused` if it is "
        "left out on purpose",
    .severity = Severity::warning,
    .profile = Profile::strict,
    .inspects = "operator whose kernels on two or more platforms all state their dtypes",
    .needs = {Key::operators, Key::kernels, Key::platform},
    .check = check,
};

}  // namespace opseal
