#include "opseal/rule.h"
#include "rules/dispatch_kinds.h"

namespace opseal {
namespace {

// Whether a kernel made for `found` misreads `kind`. Certain for formats that only their own kernel
// reads; likely for two floats of one width, whose bits fit and mean something else.
enum class Misread { no, likely, certain };

Misread misreads(std::string_view kind, std::string_view found) {
  if (canonical_kind(kind) == canonical_kind(found)) return Misread::no;
  if (is_storage_kind(found)) return Misread::certain;
  const Dtype* own = find_dtype(kind);
  const Dtype* other = find_dtype(found);
  const bool floats = own != nullptr && other != nullptr && own->kind == DtypeKind::floating &&
                      other->kind == DtypeKind::floating;
  return floats && own->bits > 0 && own->bits == other->bits ? Misread::likely : Misread::no;
}

// The kinds that can come to the table at all.
Fact arriving_kinds(const Fact& dispatch) {
  const Fact claimed = dispatch[Key::predicate][Key::kinds];
  return claimed.is_list() ? claimed : dispatch[Key::kinds];
}

void check(const Facts& facts, Sink& sink) {
  for_each_dispatch(facts, [&sink](const Fact& dispatch) {
    const Fact table = dispatch[Key::table];
    const Fact otherwise = table[Key::default_];
    const Fact arriving = arriving_kinds(dispatch);
    if (!otherwise.said() || !all_kinds_read(table[Key::entries]) || !arriving.is_list()) return;
    sink.inspected();
    if (!otherwise.is_text()) return;
    const std::vector<std::string_view> found = kind_names(dispatch).found_in(otherwise.text());
    if (found.empty()) return;
    const std::string kernel = compact_kind(otherwise.text());
    KindSet listed;
    listed.add_members(table[Key::entries]);
    listed.add_members(dispatch[Key::exceptions]);
    if (!dispatch[Key::predicate][Key::kinds].is_list()) {
      listed.add_all(dispatch[Key::predicate][Key::refused]);
    }
    listed.seal();
    std::vector<std::string> names;
    Fact first;
    Misread worst = Misread::no;
    for (const Fact kind : arriving.items()) {
      if (!kind.is_text() || listed.may_have(kind.text())) continue;
      Misread verdict = Misread::no;
      for (const std::string_view carried : found) {
        if (is_own_name(kernel, kind.text(), carried)) {
          verdict = Misread::no;
          break;
        }
        verdict = std::max(verdict, misreads(kind.text(), carried));
      }
      if (verdict == Misread::no) continue;
      if (names.empty()) first = kind;
      names.emplace_back(kind.text());
      worst = std::max(worst, verdict);
    }
    if (names.empty()) return;
    Finding& finding = sink.add(dispatch_subject(dispatch),
                                quote_list(names) + (names.size() == 1 ? " falls" : " fall") +
                                    " into the default arm " + quote(otherwise.text()) +
                                    ", a kernel for " + quote(found.front()),
                                evidence(otherwise, "default arm" + part_site(table)));
    finding.related.push_back(evidence(first, "kind that arrives without an entry"));
    finding.related.push_back(evidence(table[Key::entries], "entries listed here"));
    if (worst != Misread::certain) finding.severity = Severity::warning;
  });
}

}  // namespace

extern constinit const Rule fallback_default_wrong{
    .id = "fallback-default-wrong",
    .title = "default arm of a dispatch table serves a kind with another kind's kernel",
    .rationale =
        "A kind that was added to the enumeration and not to the table takes the default arm. If "
        "that is a kernel for one certain kind, the bytes of the new one are read in the wrong "
        "format: the result has the right shape and wrong numbers, and nothing raises.",
    .example = R"({"operator": "matvec", "kinds": ["Q8_0", "IQ4_XS"], "table": {"entries": [],)"
               R"( "default": "mv_q8_0"}})",
    .fix = "make the default arm a typed miss, and list each kind",
    .severity = Severity::error,
    .inspects = "dispatch table with stated entries, default arm and arriving kinds",
    .needs = {Key::dispatch, Key::table, Key::entries, Key::default_},
    .check = check,
};

}  // namespace opseal
