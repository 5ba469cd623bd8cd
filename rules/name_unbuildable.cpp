#include <set>
#include <string>
#include <string_view>

#include "opseal/rule.h"
#include "rules/dispatch_kinds.h"

namespace opseal {
namespace {

constexpr std::uint32_t most_entries = 2048;

void check_name(const Fact& dispatch, const Fact& joined, const Fact& defined, Sink& sink) {
  const Fact entries = joined[Key::entries];
  const Fact there = defined[Key::entries];
  if (entries.size() > most_entries || there.size() > most_entries || there.size() == 0) return;
  if (!all_kinds_read(entries) || !all_kinds_read(there)) return;
  std::set<std::string_view> known;
  for (const Fact entry : there.items()) known.insert(entry[Key::kind].text());
  sink.inspected(entries.size());
  std::set<std::string_view> told;
  for (const Fact entry : entries.items()) {
    const std::string_view kind = entry[Key::kind].text();
    if (known.contains(kind) || !told.insert(kind).second) continue;
    const Fact first = (*there.items().begin());
    Finding& finding = sink.add(
        dispatch_subject(dispatch),
        "makes the name " + quote(entry[Key::kernel].text(kind)) + ", which no kernel has; with " +
            quote(first[Key::kind].text()) + " there is " + quote(first[Key::kernel].text()),
        evidence(entry[Key::kind], "this text goes into the name"));
    finding.related.push_back(evidence(joined[Key::name], "joined here"));
  }
}

void check(const Facts& facts, Sink& sink) {
  for_each_dispatch(facts, [&sink](const Fact& dispatch) {
    Fact joined;
    Fact defined;
    for (const Fact table : dispatch[Key::agree].items()) {
      if (table[Key::match].is("joined")) joined = table;
      if (table[Key::match].is("defined")) defined = table;
    }
    if (joined.said() && defined.said()) check_name(dispatch, joined, defined, sink);
  });
}

}  // namespace

extern constinit const Rule name_unbuildable{
    .id = "name-unbuildable",
    .title = "host code makes the name of a kernel that was never instantiated",
    .rationale =
        "Kernels that are looked up by name (Metal, OpenCL, the CUDA driver) are instantiated one "
        "by one, mostly by a macro for each dtype, and the host joins the name of texts. A dtype "
        "that the host has a text for, and the kernels' sources have no line for, is accepted and "
        "ends in a failed lookup when the first tensor of it comes, which may be at a user's.",
    .example =
        R"({"operator": "softmax", "agree": [{"name": "\"softmax_\" + dtype", "match": "joined", )"
        R"("entries": [{"kind": "float", "kernel": "softmax_float"}, {"kind": "bfloat", "kernel": )"
        R"("softmax_bfloat"}]}, {"name": "kernels", "match": "defined", "entries": [{"kind": )"
        R"("float", "kernel": "softmax_float"}]}]})",
    .fix = "instantiate the kernel, or refuse what it isn't there for before the name is made",
    .severity = Severity::warning,
    .inspects =
        "text that goes into the name of a kernel, where some name of that form is a kernel's",
    .needs = {Key::dispatch, Key::agree, Key::entries},
    .check = check,
};

}  // namespace opseal
