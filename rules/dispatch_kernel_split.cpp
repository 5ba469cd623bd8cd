#include <unordered_map>

#include "opseal/rule.h"
#include "rules/dispatch_kinds.h"

namespace opseal {
namespace {

// A kind and the first kernel that is named for it.
struct Choice {
  Fact kind;
  Fact kernel;
};

using Choices = std::unordered_map<std::string, Choice>;

bool same_kernel(const Fact& a, const Fact& b) {
  return compact_kind(a.text()) == compact_kind(b.text());
}

Finding& report(const Fact& dispatch, const Choice& first, const Fact& kernel,
                const std::string& where, Sink& sink) {
  Finding& finding = sink.add(dispatch_subject(dispatch),
                              "kernel for " + quote(first.kind.text()) + " is " +
                                  quote(kernel.text()) + " and " + quote(first.kernel.text()),
                              evidence(kernel, where));
  finding.related.push_back(
      evidence(first.kernel, "in the table" + part_site(dispatch[Key::table])));
  return finding;
}

// Fills `choices` from the table; tells the first kind that it lists twice.
void check_table(const Fact& dispatch, Choices& choices, Sink& sink) {
  bool told = false;
  for (const Fact entry : dispatch[Key::table][Key::entries].items()) {
    const Fact kind = entry[Key::kind];
    const Fact kernel = entry[Key::kernel];
    if (!kind.is_text() || !kernel.is_text()) continue;
    const auto [known, fresh] =
        choices.try_emplace(canonical_kind(kind.text()), Choice{kind, kernel});
    if (fresh || told || same_kernel(known->second.kernel, kernel)) continue;
    report(dispatch, known->second, kernel, "listed again" + site_of(entry), sink);
    told = true;
  }
}

// The kernels of the predicate against those of the table. Where several kinds are in both and no
// kernel is called the same, the two name different things: a launcher and what it launches.
void check_names(const Fact& dispatch, const Choices& choices, Sink& sink) {
  const Fact predicate = dispatch[Key::predicate];
  std::size_t compared = 0;
  bool agree = false;
  const Choice* split = nullptr;
  Fact other;
  for (const EntryRange::Entry entry : predicate[Key::names].entries()) {
    const auto known = choices.find(canonical_kind(entry.name.text()));
    if (known == choices.end() || !entry.value.is_text()) continue;
    ++compared;
    if (same_kernel(known->second.kernel, entry.value)) {
      agree = true;
    } else if (split == nullptr) {
      split = &known->second;
      other = entry.value;
    }
  }
  if (split == nullptr || (compared > 1 && !agree)) return;
  report(dispatch, *split, other, "named by the predicate" + part_site(predicate), sink);
}

void check(const Facts& facts, Sink& sink) {
  for_each_dispatch(facts, [&sink](const Fact& dispatch) {
    Choices choices;
    if (!dispatch[Key::table][Key::entries].is_list()) return;
    check_table(dispatch, choices, sink);
    if (choices.empty()) return;
    sink.inspected();
    check_names(dispatch, choices, sink);
  });
}

}  // namespace

extern constinit const Rule dispatch_kernel_split{
    .id = "dispatch-kernel-split",
    .title = "one kind with two kernels in one dispatch record",
    .rationale =
        "A table that lists a kind twice runs the first kernel or the last, by how it is searched, "
        "and the other line is dead code that somebody may go on mending. A predicate that names "
        "another kernel than the table checks for one and launches the other: whether that one "
        "was built, or fits the device, nobody asked.",
    .example = R"({"operator": "matvec", "table": {"entries": [{"kind": "Q8_0", "kernel": "mv_a"},)"
               R"( {"kind": "Q8_0", "kernel": "mv_b"}]}})",
    .fix = "name one kernel for each kind, or give each choice a record of its own",
    .severity = Severity::warning,
    .profile = Profile::strict,
    .inspects = "dispatch table that names the kernel of a kind",
    .needs = {Key::dispatch, Key::table, Key::entries, Key::kernel},
    .check = check,
};

}  // namespace opseal
