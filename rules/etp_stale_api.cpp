#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {

static void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    Fact first;
    Fact first_operator;
    std::uint64_t stale = 0;
    for (const Fact op : manifest[Key::operators].items()) {
      const Fact spelling = op[Key::etp][Key::spelling];
      if (!spelling.is_text()) continue;
      sink.inspected();
      if (!spelling.is("yw_to_w")) continue;
      if (stale++ == 0) {
        first = spelling;
        first_operator = op;
      }
    }
    if (stale == 0) continue;
    // One for each manifest: a package is on one side of the renaming or the other.
    const Fact system = manifest[Key::system];
    Finding& finding = sink.add(system.is_text() ? std::string(system.text()) : "manifest",
                                plural(stale, "operator") +
                                    " registered under `yw_to_w`, which is `dt_to_t` since "
                                    "braintrace 0.2.4",
                                evidence(first, "first one here" + site_of(first_operator)));
    finding.related.push_back(evidence(first_operator[Key::name], "registered for this operator"));
  }
}

extern constinit const Rule etp_stale_api{
    .id = "etp-stale-api",
    .title = "eligibility-trace rule registered under its former name",
    .rationale =
        "braintrace 0.2.4 renamed the first of the four rules, and the registration method with "
        "it. "
        "Code that registers under the former name works with releases before that only.",
    .example = R"({"name": "my_mm", "etp": {"spelling": "yw_to_w"}})",
    .fix = "register with `register_dt_to_t`, and ask for braintrace 0.2.4 or later",
    .severity = Severity::note,
    .profile = Profile::audit,
    .inspects = "eligibility-trace operator whose spelling of the rules is said",
    .needs = {Key::etp, Key::spelling},
    .check = check,
};

}  // namespace opseal
