#include "opseal/rule.h"
#include "rules/dispatch_kinds.h"
#include "rules/kind_siblings.h"

namespace opseal {
namespace {

// Only names of data formats are held against a kernel's name. Other enumerations (operators,
// architectures) share kernels by right: a mean is a scaled sum, an older architecture's kernel
// runs on the newer one.
bool is_format(std::string_view kind) {
  if (is_storage_kind(kind)) return true;
  const Dtype* dtype = find_dtype(kind);
  return dtype != nullptr && dtype->kind != DtypeKind::opaque;
}

struct Checker {
  const Fact& dispatch;
  const KindNames& names;
  Sink& sink;

  void judge(const Fact& kind, const Fact& kernel, const std::string& site) const {
    if (!kind.is_text() || !kernel.is_text() || !is_format(kind.text())) return;
    sink.inspected();
    const std::string compact = compact_kind(kernel.text());
    std::string_view other;
    for (const std::string_view found : names.found_in(kernel.text())) {
      if (is_own_name(compact, kind.text(), found) ||
          canonical_kind(found) == canonical_kind(kind.text())) {
        return;
      }
      if (other.empty() && is_storage_kind(found)) other = found;
    }
    if (other.empty()) return;
    Finding& finding = sink.add(dispatch_subject(dispatch),
                                "kernel for " + quote(kind.text()) + " is " + quote(kernel.text()) +
                                    ", named after " + quote(other),
                                evidence(kernel, "kernel named here" + site));
    finding.related.push_back(evidence(kind, "kind stated here"));
  }
};

void check(const Facts& facts, Sink& sink) {
  for_each_dispatch(facts, [&sink](const Fact& dispatch) {
    const Fact table = dispatch[Key::table];
    const Fact predicate = dispatch[Key::predicate];
    if (!table[Key::entries].is_list() && !predicate[Key::names].is_map()) return;
    const KindNames names = kind_names(dispatch);
    const Checker checker{dispatch, names, sink};
    const std::string table_site = part_site(table);
    for (const Fact entry : table[Key::entries].items()) {
      checker.judge(entry[Key::kind], entry[Key::kernel],
                    entry[Key::location].present() ? site_of(entry) : table_site);
    }
    const std::string predicate_site = part_site(predicate);
    for (const EntryRange::Entry entry : predicate[Key::names].entries()) {
      checker.judge(entry.name, entry.value, predicate_site);
    }
  });
  check_kind_siblings(facts, sink);
}

}  // namespace

extern constinit const Rule symbol_kind_mismatch{
    .id = "symbol-kind-mismatch",
    .title = "kernel of one kind is named after another kind",
    .rationale =
        "Dispatch tables grow by copying the line above. A line whose kernel was not changed runs "
        "the neighbour's kernel: it reads this kind's bytes in the other format, and returns "
        "numbers of the right shape that are wrong. The same happens to the list of symbols that a "
        "registration looks up, where the library that it loads holds the kernel of the right "
        "name, "
        "too.",
    .example = R"({"operator": "matvec", "kinds": ["Q4_0", "Q5_0"], "table": {"entries":)"
               R"( [{"kind": "Q5_0", "kernel": "mv_q4_0"}]}})",
    .fix = "name the kernel that was made for the kind",
    .severity = Severity::warning,
    .inspects =
        "kernel of a data format in a dispatch table or predicate, or kernel for one dtype whose "
        "symbol is looked up in a library that was read",
    .reads = {Key::exports, Key::images, Key::handlers},
    .check = check,
};

}  // namespace opseal
