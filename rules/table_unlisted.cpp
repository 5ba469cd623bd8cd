#include "rules/unlisted_kernels.h"

namespace opseal {

static void check(const Facts& facts, Sink& sink) {
  check_unlisted_kernels(facts, Unlisted::declared, sink);
}

extern constinit const Rule table_unlisted{
    .id = "table-unlisted",
    .title = "kernel is missing in the table from which its registry is built",
    .rationale =
        "The kernel is written, compiled and declared beside the table, and the line that hands it "
        "to the registry was forgotten. Nothing warns: the linker drops it or keeps it as dead "
        "code, and a model that asks for just this version or type is refused at run time, though "
        "its neighbours work. Where no kernel of an operator is listed, the operator runs on "
        "another device, or nowhere.",
    .example =
        R"({"name": "IsNaN", "kernels": [{"platform": "cpu", "versions": {"since": 13, "until": 19}, "witnesses": ["declared"], "listed": false}]})",
    .fix = "add the kernel to the table, or remove it with its declaration",
    .severity = Severity::error,
    .inspects = "kernel of which it is said whether a table lists it",
    .needs = {Key::operators, Key::kernels, Key::listed},
    .check = check,
};

}  // namespace opseal
