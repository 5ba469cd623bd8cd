#include <string>
#include <vector>

#include "opseal/rule.h"
#include "rules/dispatch_kinds.h"

namespace opseal {
namespace {

// More than any operator has: an input made to cost time.
constexpr std::uint32_t most_arguments = 64;
constexpr std::uint32_t most_entries = 64;

bool reads(const Fact& entry, std::string_view argument) {
  for (const Fact own : entry[Key::uses].items()) {
    if (own.text() == argument) return true;
  }
  return false;
}

// Entries of one table that all say what they read: what one reads and another drops.
void check_table(const Fact& dispatch, Sink& sink) {
  const Fact entries = dispatch[Key::table][Key::entries];
  if (entries.size() < 2 || entries.size() > most_entries) return;
  Fact full;
  for (const Fact entry : entries.items()) {
    const Fact uses = entry[Key::uses];
    if (!all_read(uses) || uses.size() == 0 || uses.size() > most_arguments) return;
    if (!full.said() || uses.size() > full[Key::uses].size()) full = entry;
  }
  sink.inspected();
  for (const Fact entry : entries.items()) {
    std::vector<std::string> names;
    for (const Fact name : full[Key::uses].items()) {
      if (!reads(entry, name.text())) names.emplace_back(name.text());
    }
    if (names.empty()) continue;
    Finding& finding = sink.add(dispatch_subject(dispatch),
                                quote(entry[Key::kernel].text()) + " drops " + quote_list(names) +
                                    ", which " + quote(full[Key::kernel].text()) + " gets",
                                evidence(entry[Key::kernel], "dropped here"));
    finding.related.push_back(evidence(full[Key::kernel], "handed over here"));
  }
}

void check(const Facts& facts, Sink& sink) {
  for_each_dispatch(facts, [&sink](const Fact& dispatch) { check_table(dispatch, sink); });
}

}  // namespace

extern constinit const Rule fallback_drops_argument{
    .id = "fallback-drops-argument",
    .title = "fallback drops an argument that the fast way honours",
    .rationale =
        "Where the fast kernel is installed the call hands it an argument, a mask or the borders "
        "of sequences; where it isn't, the function goes another way and never reads it. The "
        "results differ from machine to machine, and nothing raises. It may be right where the "
        "argument follows from the others.",
    .example =
        R"({"operator": "conv", "table": {"entries": [{"kind": "fast", "kernel": "fast_conv", )"
        R"("uses": ["x", "sequence"]}, {"kind": "slow", "kernel": "conv1d", "uses": ["x"]}]}})",
    .fix = "honour the argument in the fallback too, or raise where it is given",
    .severity = Severity::warning,
    .profile = Profile::strict,
    .inspects = "table whose entries all say which arguments they read",
    .needs = {Key::dispatch, Key::table, Key::entries, Key::uses},
    .check = check,
};

}  // namespace opseal
