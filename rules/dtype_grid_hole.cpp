#include "opseal/registration.h"
#include "opseal/rule.h"
#include "rules/dtype_grid.h"

namespace opseal {
namespace {

void report(const Fact& manifest, const Fact& op, const Gap& gap, Sink& sink) {
  const std::string_view platform = op.facts().names.text(gap.platform);
  if (platform == "any") return;
  std::vector<std::string> dtypes;
  Fact first;
  for (const Gap::Lacking& lacking : gap.dtypes) {
    if (!is_grid_hole(manifest, op, gap, lacking)) continue;
    if (!first.said()) first = lacking.dtype;
    dtypes.emplace_back(lacking.dtype.text());
  }
  if (dtypes.empty()) return;
  Gap hole = gap;
  hole.there = first;
  Finding& finding = add_gap(manifest, op, hole, std::move(dtypes), sink);
  finding.message += ", although it takes the widths beside ";
  finding.message += gap.dtypes.size() == 1 ? "it" : "them";
  if (gap.promised && is_required_platform(manifest, platform)) finding.severity = Severity::error;
}

void check(const Facts& facts, Sink& sink) { check_gaps(facts, sink, report); }

}  // namespace

extern constinit const Rule dtype_grid_hole{
    .id = "dtype-grid-hole",
    .title = "one dtype missing in the middle of what a platform takes",
    .rationale =
        "The platform takes the narrower and the wider integers, another platform takes this one "
        "too, and here it is absent: nobody plans such a hole, one line of a list was forgotten. "
        "A program that uses the dtype fails on this device, or its work moves to another without "
        "a message, and all operators that must stay together move with it.",
    .example =
        R"({"name": "not_equal", "kernels": [{"platform": "cpu", "dtypes": ["i32", "i64", "f32"]},)"
        R"( {"platform": "gpu", "dtypes": ["i64", "f32"]}]})",
    .fix =
        "add the kernel; a manifest may list the dtype under the other kernel's `refused` if it is "
        "left out on purpose",
    .severity = Severity::warning,
    .inspects = "operator whose kernels on two or more platforms all state their dtypes",
    .needs = {Key::operators, Key::kernels, Key::platform},
    .check = check,
};

}  // namespace opseal
