// What a manifest says of modules of C++ that Python imports, as `formats.md` (docs/formats.md)
// fixes it.

#include "analyzers/forms.h"

namespace opseal::forms {
namespace {

constexpr Field choice_fields[] = {
    {expression, &text_form, false, "what is looked at, as written: `x.scalar_type()`"},
    {dtypes, &texts_form, false, "dtypes that it has a case for"},
    {macro, &text_form, false, ""},
    {checked, &truth_form, false, "an assertion that nothing else comes here"},
    {tested, &truth_form, false, "something else is done for these; others may be served too"},
    {tier, &tier_form, false, "`typed`: libclang told some of the dtypes"},
    {location, &location_form, false, ""},
};
constexpr Form choice_form{.name = "DtypeChoice", .fields = choice_fields};
constexpr Field bound_function_fields[] = {
    {name, &text_form, true, "behind the module: `f`, `ops.f` of a submodule"},
    {namespace_, &text_form, true, "module, as Python imports it"},
    {positional, &count_form, false, "arguments that it takes at most"},
    {required, &count_form, false, "those without a default"},
    {variadic, &truth_form, false, "takes any arguments"},
    {parameters, &texts_form, false, "names by which a call may give them; empty: only in order"},
    {kinds, &texts_form, false,
     "of each parameter of a kernel of Triton: `pointer`, `number`, or `any`; of a function of C: "
     "`pointer`, `pointer:f32`, `i32`, `u64`, `f64`, `bool`, `long`, or `?`"},
    {results, &texts_form, false,
     "of a function of C: what it returns, likewise, or `void`; of a forward: dtypes of the "
     "tensors "
     "that it hands back, `?` where one isn't known"},
    {required_inputs, &texts_form, false, "parameters that a launch of it has to give"},
    {exempt, &texts_form, false, "what its tuner gives by name, so that a launch must not"},
    {dispatches, &choices_form, false,
     "forward or backward: where its code, and what it calls, chooses by dtype"},
    {when, &text_form, false, "condition of the build that it depends on"},
    {macro, &text_form, false, "macro of the project that it came through"},
    {location, &location_form, false, ""},
};
constexpr Form bound_function_form{.name = "BoundFunction", .fields = bound_function_fields};
constexpr Field use_fields[] = {
    {name, &text_form, true, "what is asked for, as in `functions`"},
    {namespace_, &text_form, true, "module"},
    {arguments, &count_form, false, "that the call gives in order; missing: it is no call"},
    {names, &texts_form, false, "of those that it gives by name"},
    {kinds, &texts_form, false,
     "of each argument of a launch, in order, then by name: `pointer`, `number`, or `any`; for a "
     "function of C as those of `functions`, `address` for one that is given as a plain number"},
    {results, &texts_form, false,
     "what a function of C is said to return, likewise; `default` where nobody says it"},
    {form, &text_form, false, "`call`: of a function of C, where else it is declared"},
    {location, &location_form, false, ""},
};
constexpr Form use_form{.name = "Use", .fields = use_fields};

}  // namespace

constinit const Form choices_form{.item = &choice_form};
constinit const Form bound_functions_form{.item = &bound_function_form};
constinit const Form uses_form{.item = &use_form};

}  // namespace opseal::forms
