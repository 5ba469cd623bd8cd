#include "rules/unlisted_kernels.h"

namespace opseal {

static void check(const Facts& facts, Sink& sink) {
  check_unlisted_kernels(facts, Unlisted::beside_others, sink);
}

extern constinit const Rule table_unlisted_variant{
    .id = "table-unlisted-variant",
    .title = "kernel is compiled, and the table of its registry lists only its siblings",
    .rationale =
        "One macro often makes the kernels of an operator for many types and versions at once, and "
        "the table names them one by one. A kernel that is in no line of it can't be reached: it "
        "costs space, and whoever asks for that type is refused although the code is there. It may "
        "be left out on purpose, as where the operator's standard doesn't have the type in that "
        "version. Where the class is declared beside the table too, it is `table-unlisted`.",
    .example =
        R"({"name": "Gelu", "kernels": [{"platform": "cuda", "listed": true}, {"platform": "cuda", "versions": {"since": 20, "until": null}, "listed": false}]})",
    .fix = "add the kernel to the table, or don't make it",
    .severity = Severity::warning,
    .profile = Profile::strict,
    .inspects = "kernel of which it is said whether a table lists it",
    .needs = {Key::operators, Key::kernels, Key::listed},
    .check = check,
};

}  // namespace opseal
