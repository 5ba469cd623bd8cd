#include "opseal/rule.h"
#include "rules/dispatch_kinds.h"

namespace opseal {
namespace {

// What a record says about one kind, as far as it is known.
class Record {
 public:
  explicit Record(const Fact& dispatch) {
    const Fact predicate = dispatch[Key::predicate];
    const Fact table = dispatch[Key::table];
    predicate_known_ = all_read(predicate[Key::kinds]);
    claimed_.add_all(predicate[Key::kinds]);
    claimed_.seal();
    refused_.add_all(predicate[Key::refused]);
    refused_.seal();
    table_known_ = all_kinds_read(table[Key::entries]);
    has_default_ = !table[Key::default_].is_null();
    launched_.add_members(table[Key::entries]);
    launched_.seal();
    all_known_ = all_read(dispatch[Key::kinds]) && dispatch[Key::kinds].size() > 0;
    all_.add_all(dispatch[Key::kinds]);
    all_.seal();
  }

  bool is_judged() const { return (predicate_known_ && table_known_) || all_known_; }
  // Accepted and launched: nothing is left to excuse.
  bool agree_on_yes(std::string_view kind) const {
    return predicate_known_ && table_known_ && claimed_.has(kind) && launched_.has(kind);
  }
  // Asked and refused, and the table has nothing for it, not even a default arm. Where the record
  // lists the whole enumeration, the exception explains why nothing serves the kind.
  bool agree_on_no(std::string_view kind) const {
    return predicate_known_ && table_known_ && !has_default_ && !all_known_ && refused_.has(kind) &&
           !claimed_.has(kind) && !launched_.has(kind);
  }
  bool is_foreign(std::string_view kind) const {
    return all_known_ && !all_.has(kind) && !claimed_.has(kind) && !refused_.has(kind) &&
           !launched_.has(kind);
  }

 private:
  KindSet claimed_;
  KindSet refused_;
  KindSet launched_;
  KindSet all_;
  bool predicate_known_ = false;
  bool table_known_ = false;
  bool has_default_ = false;
  bool all_known_ = false;
};

void check(const Facts& facts, Sink& sink) {
  for_each_dispatch(facts, [&sink](const Fact& dispatch) {
    const Fact exceptions = dispatch[Key::exceptions];
    if (exceptions.size() == 0) return;
    const Record record(dispatch);
    if (!record.is_judged()) return;
    for (const Fact exception : exceptions.items()) {
      const Fact kind = exception[Key::kind];
      if (!kind.is_text()) continue;
      sink.inspected();
      std::string message = "exception for " + quote(kind.text());
      Evidence other;
      if (record.is_foreign(kind.text())) {
        message += ", a kind that is not in the enumeration";
        other = evidence(dispatch[Key::kinds], "kinds listed here");
      } else if (record.agree_on_yes(kind.text())) {
        message += ", which the predicate accepts and the table launches";
        other = evidence(dispatch[Key::table][Key::entries],
                         "launchers listed here" + part_site(dispatch[Key::table]));
      } else if (record.agree_on_no(kind.text())) {
        message += ", which the predicate refuses and the table does not list";
        other = evidence(dispatch[Key::predicate][Key::refused],
                         "refusals listed here" + part_site(dispatch[Key::predicate]));
      } else {
        continue;
      }
      Finding& finding = sink.add(dispatch_subject(dispatch), std::move(message),
                                  evidence(kind, "exception stated here"));
      finding.related.push_back(std::move(other));
    }
  });
}

}  // namespace

extern constinit const Rule allowlist_stale{
    .id = "allowlist-stale",
    .title = "exception that excuses nothing any more",
    .rationale =
        "An exception was written when predicate and table disagreed. They agree now, and the row "
        "still switches the check off for that kind: the next time the two drift apart, nobody "
        "hears of it. A row for a kind that does not exist protects nothing and was probably meant "
        "for another.",
    .example =
        R"({"operator": "matvec", "predicate": {"kinds": ["Q8_0", "IQ4_XS"]}, "table": )"
        R"({"entries": [{"kind": "Q8_0", "kernel": "mv_q8_0"}, {"kind": "IQ4_XS", "kernel": )"
        R"("mv_iq4_xs"}], "default": null}, "exceptions": [{"kind": "IQ4_XS"}]})",
    .fix = "delete the exception",
    .severity = Severity::warning,
    .inspects = "exception of a dispatch record whose predicate and table, or kinds, are known",
    .needs = {Key::dispatch, Key::exceptions},
    .check = check,
};

}  // namespace opseal
