// What a manifest says of kernels that were called, as `formats.md` (docs/formats.md) fixes it.

#include "analyzers/forms.h"

namespace opseal::forms {
namespace {

constexpr std::string_view probe_kinds[] = {"metadata", "signature", "call", "threads",
                                            "library",  "framework", "jvp",  "transpose"};
constexpr Form probe_kind{.text = true, .words = probe_kinds};
constexpr std::string_view probe_statuses[] = {"passed",    "differs",   "refused", "crashed",
                                               "timed_out", "no_answer", "skipped"};
constexpr Form probe_status{.text = true, .words = probe_statuses};

constexpr std::string_view deviation_kinds[] = {
    "unwritten",   "out_of_bounds", "input_written", "unstable", "value",   "traits",
    "signature",   "in_place",      "unrefused",     "threads",  "kernels", "refused_again",
    "alternative", "jvp",           "transpose",     "narrow",   "repeated"};
constexpr Form deviation_kind{.text = true, .words = deviation_kinds};
constexpr std::string_view comparisons[] = {"bounds", "alike"};
constexpr Form comparison_form{.text = true, .words = comparisons};

constexpr Field deviation_fields[] = {
    {kind, &deviation_kind, true, ""},
    {name, &text_form, false, "of the buffer: `result 0`, `argument 1 (x)`"},
    {index, &real_form, false,
     "first element that deviates, from 0; negative or past the last: outside of the buffer"},
    {elements, &count_form, false, "how many deviate"},
    {expected, &text_form, false, ""},
    {seen, &text_form, false, ""},
};
constexpr Form deviation_form{.name = "Deviation", .fields = deviation_fields};
constexpr Form deviations_list{.item = &deviation_form};

constexpr Field probe_fields[] = {
    {kind, &probe_kind, true,
     "`metadata`: the handshake; `signature`: calls that it has to refuse; `call`: generated "
     "inputs; `threads`: its first calls, many at once; `library`: what calls left behind; "
     "`framework`: a check of a framework itself; `jvp`, `transpose`: derivatives that a kernel "
     "computes, against differences of the operator's own"},
    {identity, &text_form, false, "names the probe: `opseal probe --repro` runs it again"},
    {system, &text_form, false, "the framework that was checked"},
    {version, &text_form, false, "of that framework"},
    {name, &text_form, false, "of the check: `backend-switch`"},
    {operator_, &text_form, false, "also one that a framework was asked to call"},
    {input, &text_form, false, "of that operator, of which a check speaks"},
    {platform, &text_form, false, ""},
    {library, &text_form, false, "path"},
    {symbol, &text_form, false, ""},
    {target, &text_form, false, ""},
    {status, &probe_status, true,
     "`passed`; `differs`: see `deviations`; `refused`: it said no; the others say why in "
     "`reason`"},
    {reason, &text_form, false, "what it said, or what is missing"},
    {arguments, &operands_form, false, "what it was handed: one dtype and numbers for each"},
    {results, &operands_form, false, "likewise"},
    {expected, &text_form, false, "of the framework"},
    {seen, &text_form, false, "what it did"},
    {declared, &truth_form, false,
     "whether the declaration says that it serves such a call; missing: nothing is declared"},
    {counterpart, &text_form, false, "identity of the call whose values these were held against"},
    {method, &comparison_form, false,
     "by the bounds that the two state; `alike`: by half of the digits, since nobody states any"},
    {bit_stable, &truth_form, false, "declared: equal inputs give equal bits"},
    {deviations, &deviations_list, false, ""},
    {seed, &count_form, false, "of the generated inputs"},
    {seconds, &real_form, false, ""},
};
constexpr Form probe_form{.name = "Probe", .fields = probe_fields};

}  // namespace

constinit const Form probes_form{.item = &probe_form};

}  // namespace opseal::forms
