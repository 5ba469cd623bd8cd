// The manifest format, version 1, as `formats.md` (docs/formats.md) fixes it.

#include "analyzers/forms.h"

namespace opseal {
namespace {

using namespace forms;

constexpr std::string_view function_kinds[] = {"meta", "fake", "decomposition", "composite"};
constexpr Form function_kind{.text = true, .words = function_kinds};
constexpr Form ranks_form{.item = &count_or_null};
constexpr Field function_fields[] = {
    {name, &text_form, true, "qualified name"},
    {positional, &count_form, false, "positional parameters, those with a default included"},
    {required, &count_form, false, "positional parameters without a default"},
    {variadic, &truth_form, false, "takes any number of further positional arguments"},
    {parameters, &texts_form, false, "names of the positional parameters"},
    {names, &texts_form, false, "parameters that are given by name alone; `**`: any further ones"},
    {location, &location_or_null, false, "where it is defined; null: it has no source"},
    {kind, &function_kind, false, "what kind of abstract evaluation it is, where that matters"},
    {results, &texts_form, false,
     "dtypes of its results: `f16`; `$x` for that of parameter `x`, in C++ where the code chooses "
     "by it; `?` where it isn't known"},
    {rank, &ranks_form, false, "number of dimensions of each of its results; null: it isn't known"},
    {reads, &texts_form, false,
     "of a shape function: parameters that its body reads; `x.dtype`: and gives to a result"},
    {shape, &texts_form, false,
     "parameters that choose between shapes, or dtypes, of what it hands back"},
};
constexpr Form function_or_null{.name = "Function", .null = true, .fields = function_fields};
constexpr Form functions_form{.item = &function_or_null};

constexpr Field versions_fields[] = {
    {since, &count_form, true, "first operator version served"},
    {until, &count_or_null, false, "last one; null: open, whose meaning is the system's own rule"},
};
constexpr Form versions_form{.name = "Versions", .fields = versions_fields};

constexpr Field range_fields[] = {
    {min, &count_form, true, ""},
    {max, &count_form, true, ""},
};
constexpr Form inputs_form{
    .name = "Inputs", .count = true, .fields = range_fields, .item = &operand_form};
constexpr Form outputs_form{.name = "Outputs", .count = true, .item = &operand_form};

constexpr std::string_view arity_words[] = {"traced", "calls", "rule", "schema", "declared"};
constexpr Form arity_source_form{.text = true, .words = arity_words};
constexpr Form arity_form{.map_value = &counts_form};

constexpr Form plain_value_form{.truth = true, .real = true, .text = true};
constexpr Form attribute_value_form{
    .truth = true, .real = true, .text = true, .item = &plain_value_form};
constexpr Field attribute_fields[] = {
    {name, &text_form, true, ""},
    {type, &text_form, false, "`any` where the system has no types"},
    {value, &attribute_value_form, false, "one that it may have: what probes hand over"},
};
constexpr Form attribute_form{.name = "Attribute", .fields = attribute_fields};
constexpr Form attributes_form{.item = &attribute_form};

constexpr std::string_view jvp_kinds[] = {"per_input", "linear", "zero", "custom"};
constexpr Form jvp_kind{.text = true, .words = jvp_kinds};
constexpr Form texts_or_null{.null = true, .item = &text_form};
constexpr Form tangent_operators_form{.item = &texts_or_null};
constexpr std::string_view handed_back_words[] = {"inputs", "one", "sequence"};
constexpr Form handed_back_form{.text = true, .words = handed_back_words};
constexpr Field jvp_fields[] = {
    {kind, &jvp_kind, true, "`per_input` has `rules`, the others have `function`"},
    {rules, &functions_form, false,
     "one rule for each input; null: no tangent flows from that input"},
    {leading, &count_form, false,
     "arguments of a rule before the inputs: 1 tangent, 2 tangent and result"},
    {tangent_operators, &tangent_operators_form, false,
     "for each rule, the operators that it feeds the tangent to; null: not known"},
    {function, &function_or_null, false, "the one function of the other kinds"},
    {uses, &texts_form, false, "attributes of the operator that it reads"},
    {results, &handed_back_form, false,
     "what a rule hands back for the results of the operator: `sequence`, or `one` value; of "
     "`rules`, one of them"},
};
constexpr Form jvp_form{.name = "Jvp", .null = true, .fields = jvp_fields};

constexpr Field rule_call_fields[] = {
    {function, &function_or_null, false, ""},
    {kind, &text_form, false, "what the system calls it: `forward`, `setup_context`"},
    {positional, &count_form, false, "arguments that it is called with by position"},
    {names, &texts_form, false, "arguments that it is called with by name"},
    {parameters, &texts_form, false,
     "what those by position are called where the operator is defined; empty: nothing"},
    {returns, &count_form, false,
     "values that it hands back; where places differ in it, a number that isn't asked for"},
};
constexpr Form rule_call_form{.name = "RuleCall", .fields = rule_call_fields};
constexpr Form rule_calls_form{.item = &rule_call_form};
constexpr Field gradient_guard_fields[] = {
    {input, &count_form, true, "input that is asked whether it needs a gradient, from 0"},
    {variadic, &truth_form, false, "all from that one on"},
    {value, &count_form, false,
     "place of the gradient that is made only then, where that of the input isn't"},
};
constexpr Form gradient_guard_form{.name = "GradientGuard", .fields = gradient_guard_fields};
constexpr Form gradient_guards_form{.item = &gradient_guard_form};
constexpr Field gradient_fields[] = {
    {operator_, &text_form, false, "the backward operator"},
    {returns, &count_form, false, "gradients that it returns"},
    {form, &text_form, false, "`value`: that one is no tuple where a tuple is asked for"},
    {dtypes, &texts_form, false, "dtypes that it takes"},
    {function, &function_or_null, false, "the backward function, where it is no operator"},
    {calls, &rule_calls_form, false, "its functions, and what the system calls each with"},
    {requires_, &gradient_guards_form, false, "inputs that it asks whether they need a gradient"},
    {gate_reads, &texts_form, false,
     "saved tensors whose `requires_grad` decides what it computes"},
    {local, &texts_form, false,
     "those of them that the operator made itself, and doesn't hand back"},
    {writes, &counts_form, false, "numbers of values that the forward keeps for it"},
    {reads, &counts_form, false, "numbers of values that it takes those apart into"},
};
constexpr Form gradient_form{.name = "Gradient", .null = true, .fields = gradient_fields};

constexpr std::string_view batching_kinds[] = {"general",     "custom",        "sequential",
                                               "expand_dims", "broadcast_all", "counterpart"};
constexpr Form batching_kind{.text = true, .words = batching_kinds};
constexpr Field batching_fields[] = {
    {kind, &batching_kind, true, ""},
    {counterpart, &text_or_null, false, "the operator that serves a batch"},
    {function, &function_or_null, false, "the rule, where it is a function of its own"},
    {checked, &truth_form, false,
     "false: it uses axes of operands and asks nowhere whether these are mapped at all"},
    {uses, &texts_form, false, "attributes of the operator that it reads"},
    {results, &handed_back_form, false,
     "what it hands back for the results of the operator and their axes: `inputs`, the axes of all "
     "operands as they came; `sequence`; `one` value"},
};
constexpr Form batching_form{.name = "Batching", .null = true, .fields = batching_fields};

constexpr std::string_view grid_words[] = {"fixed", "derived"};
constexpr Form grid_form{.text = true, .words = grid_words};
constexpr Field launch_fields[] = {
    {grid, &grid_form, false, "`fixed`: constants in the code; `derived`: worked out from shapes"},
    {vmap_method, &text_or_null, false, "how the call says it can be batched"},
};
constexpr Form launch_form{.name = "Launch", .fields = launch_fields};

constexpr Field capability_fields[] = {
    {strided_input, &truth_form, false, ""},
    {requires_broadcast, &truth_form, false, ""},
    {in_place, &truth_form, false, "writes its result into an input's buffer"},
    {alignment_bytes, &count_form, false, "bytes"},
    {constraints, &texts_form, false, "what else must hold, in words"},
};
constexpr Form capabilities_form{.name = "Capabilities", .fields = capability_fields};

constexpr Field precision_fields[] = {
    {bit_stable, &truth_form, false, "equal inputs give equal bits"},
    {max_ulp, &bound_or_null, false, "units in the last place"},
    {max_relative, &bound_or_null, false, ""},
    {max_absolute, &bound_or_null, false, ""},
    {audited, &truth_form, false, ""},
    {evidence, &texts_form, false, ""},
};
constexpr Form precision_form{.name = "Precision", .null = true, .fields = precision_fields};
constexpr Field cost_fields[] = {{known, &truth_form, false, ""}};
constexpr Form cost_form{.name = "Cost", .fields = cost_fields};

constexpr std::string_view witness_words[] = {"declared", "registered"};
constexpr Form witness_form{.text = true, .words = witness_words};
constexpr Form witnesses_form{.item = &witness_form};

constexpr std::string_view determinism_words[] = {"bitwise", "same_hardware_bitwise",
                                                  "nondeterministic"};
constexpr Form determinism_form{.text = true, .words = determinism_words};

constexpr Field built_fields[] = {
    {name, &text_form, false, "what it says that it is, and is stored under"},
    {version, &text_form, false, "likewise"},
    {function, &function_or_null, false, "its class"},
    {fields, &texts_form, false, "members whose size its size in storage counts"},
    {writes, &texts_form, false, "members that it stores, in order"},
    {reads, &texts_form, false, "members that it takes from storage, in order"},
};
constexpr Form built_form{.name = "Built", .fields = built_fields};

constexpr std::string_view early_stages[] = {"instantiate", "prepare", "initialize"};
constexpr Form early_stage{.text = true, .words = early_stages};
constexpr Field early_handler_fields[] = {
    {symbol, &text_form, true, ""},
    {stage, &early_stage, true, ""},
};
constexpr Form early_handler_form{.name = "EarlyHandler", .fields = early_handler_fields};
constexpr Form early_handlers_form{.item = &early_handler_form};

constexpr std::string_view kernel_layout_words[] = {"fixed", "open"};
constexpr Form kernel_layout{.text = true, .words = kernel_layout_words};
constexpr Field kernel_fields[] = {
    {platform, &text_form, true, "`any` serves every platform", true},
    {backend, &text_form, false, ""},
    {function, &function_or_null, false, ""},
    {symbol, &text_form, false, ""},
    {native_signature, &text_form, false, "C++ text"},
    {tier, &tier_form, false, "`typed`: libclang told the signature"},
    {library, &text_form, false, "path"},
    {arguments, &texts_form, false,
     "of a plain C function, what `opseal probe` hands over, in order; see probes.md"},
    {results, &texts_form, false,
     "of a plain C function: `void`, the type of a status of which 0 is good, or the name of the "
     "output that it returns"},
    {handlers, &early_handlers_form, false,
     "of XLA's FFI: handlers in the same library that run before `symbol` does"},
    {target, &text_form, false, "a name in `targets`"},
    {location, &location_form, false, "where it was registered"},
    {active, &truth_form, false, "false: shadowed by another kernel"},
    {fallthrough, &truth_form, false, "passes on, is no kernel"},
    {package, &text_form, false, "who registered it"},
    {witnesses, &witnesses_form, false, ""},
    {dtypes, &texts_form, false, ""},
    {refused, &texts_form, false, "dtypes that it was asked for and said no to"},
    {failed, &texts_form, false, "dtypes that it said yes to and then failed on"},
    {signatures, &signatures_form, false, "whole combinations: inputs, then outputs"},
    {dispatches, &choices_form, false,
     "where the code of the kernel, and what it calls, chooses by dtype"},
    {writes, &texts_form, false, "parameters of its function whose memory the body writes to"},
    {holder, &text_form, false,
     "function of Python whose `impl` registers it and refuses a second one; `<module>`: none"},
    {aliases, &texts_form, false,
     "parameters of its function that it hands back, as they are or as a view"},
    {uses, &texts_form, false,
     "functions with a backward of their own that its code, or what it calls, applies"},
    {layout, &kernel_layout, false,
     "of a lowering: whether the call that it writes fixes the layouts of its operands"},
    {versions, &versions_form, false, ""},
    {type_constraints, &texts_map, false, ""},
    {launch, &launch_form, false, ""},
    {row_coupled, &truth_form, false, "one launch over a folded batch mixes rows"},
    {stub, &truth_form, false, "only raises"},
    {source, &text_form, false, "for example `portable-cpu`"},
    {revision, &text_form, false, "`0`: untracked"},
    {generic, &truth_form, false, ""},
    {capabilities, &capabilities_form, false, ""},
    {precision, &precision_form, false, "null: audited, no bound"},
    {determinism, &determinism_form, false,
     "equal inputs give equal bits: everywhere, on one kind of hardware, or not at all"},
    {cost, &cost_form, false, ""},
    {semantics, &text_form, false, "tag, for example `rope-interleaved`"},
    {params, &text_form, false, "variant of the parameters that it takes"},
    {priority, &real_form, false, ""},
    {listed, &truth_form, false, "stands in a table from which the registry is built"},
    {attributes, &attributes_form, false, "that it says it takes, of a plugin's creator"},
    {variadic, &truth_form, false, "it may say that it takes others"},
    {reads, &texts_form, false, "names of attributes that it looks for when it makes an object"},
    {values, &text_map, false, "attribute that it looks for -> as what its bytes are read"},
    {built, &built_form, false,
     "the object that it makes, which names it again when it is read from storage"},
    {when, &text_form, false, "condition of the build, or of the module, that it depends on"},
    {macro, &text_form, false, "macro of the project that it came through"},
};
constexpr Form kernel_form{.name = "Kernel", .fields = kernel_fields};
constexpr Form kernels_form{.item = &kernel_form};

constexpr Field etp_rules_fields[] = {
    {dt_to_t, &function_or_null, false, ""},
    {xy_to_dw, &function_or_null, false, ""},
    {init_drtrl, &function_or_null, false, ""},
    {init_pp, &function_or_null, false, ""},
};
constexpr Form etp_rules_form{.name = "EtpRules", .fields = etp_rules_fields};
constexpr Field fast_path_fields[] = {
    {applicable, &function_or_null, false, "the gate"},
    {elementwise, &truth_form, false, ""},
    {gate_reads, &texts_form, false, "parameters that the gate looks at"},
};
constexpr Form fast_path_form{.name = "FastPath", .null = true, .fields = fast_path_fields};
constexpr std::string_view etp_spellings[] = {"dt_to_t", "yw_to_w"};
constexpr Form etp_spelling_form{.text = true, .words = etp_spellings};
constexpr Field etp_fields[] = {
    {rules, &etp_rules_form, false, "eligibility-trace rules"},
    {spelling, &etp_spelling_form, false, "which name the registry gives the first rule"},
    {trainables, &count_map, false, "parameter -> input index, bias included"},
    {trainables_without_bias, &count_map, false, "the same without a bias"},
    {trainables_explicit, &truth_form, false, "false: the registry's default layout"},
    {x_index, &count_or_null, false, "input index of x; null: the operator has none"},
    {y_index, &count_form, false, "output index of y"},
    {batched, &truth_form, false, ""},
    {gradient_enabled, &truth_form, false, ""},
    {counterpart, &text_or_null, false, "operator that serves a batch"},
    {fast_path, &fast_path_form, false, ""},
    {snap_anchor, &function_or_null, false, ""},
    {snap_adjacency, &function_or_null, false, ""},
    {instant, &function_or_null, false, ""},
    {solve, &function_or_null, false, ""},
    {x_representation, &function_or_null, false, ""},
    {implementation, &function_or_null, false, ""},
    {x_dtypes, &texts_form, false, "dtypes of x"},
};
constexpr Form etp_form{.name = "Etp", .fields = etp_fields};

constexpr std::string_view defined_in_words[] = {"python", "native"};
constexpr Form defined_in_form{.text = true, .words = defined_in_words};

// torch says `unknown` where anything may be written.
constexpr Form mutates_args_form{.text = true, .item = &text_form};

constexpr Field operator_fields[] = {
    {name, &text_form, true, "as registered"},
    {namespace_, &text_form, false, "library or domain"},
    {aliases, &texts_form, false, "names of the variable or export that holds it"},
    {location, &location_form, false, "where it was registered"},
    {versions, &versions_form, false, ""},
    {tags, &texts_form, false, ""},
    {inputs, &inputs_form, false, ""},
    {outputs, &outputs_form, false, ""},
    {arity_source, &arity_source_form, false, "how the counts were learned"},
    {arity, &arity_form, false, "way -> the counts that it saw"},
    {traced_signatures, &signatures_form, false, "dtypes seen when traced: inputs, then outputs"},
    {type_constraints, &texts_map, false, "type variable -> dtypes"},
    {package, &text_form, false, "who registered it"},
    {defined_in, &defined_in_form, false, ""},
    {deprecated, &truth_form, false, ""},
    {experimental, &truth_form, false, ""},
    {function_body, &truth_form, false, "works without a kernel"},
    {multiple_results, &truth_form, false, ""},
    {schema, &text_or_null, false,
     "the system's own schema text; null: kernels are registered and nobody defines the operator"},
    {attributes, &attributes_form, false, ""},
    {mutates_args, &mutates_args_form, false,
     "names of the arguments that it writes, or `unknown`, as handed to the registry"},
    {writes, &texts_form, false, "inputs that its code writes to and hands back"},
    {differentiable, &truth_form, false, "said by its author; false: on purpose"},
    {derivative_of, &text_form, false,
     "name of the operator whose JVP or gradient this one computes; its operands say of what they "
     "are a tangent or cotangent"},
    {jvp, &jvp_form, false, "null: none"},
    {transpose, &function_or_null, false, "null: none"},
    {abstract, &function_or_null, false, "shape function, fake or meta; null: none"},
    {linearization, &function_or_null, false, "replaces a JVP; null: none"},
    {gradient, &gradient_form, false, "null: none"},
    {stub_platforms, &texts_form, false, "platforms whose lowering only raises"},
    {identity, &text_form, false, "tells equal names apart where the registry keys by object"},
    {spelling, &text_form, false,
     "the macro that stands for its namespace where the registry takes the word as it is written"},
    {batching, &batching_form, false, "null: none"},
    {separated, &truth_form, false,
     "its forward gets no context, which a function of its own fills"},
    {kernels, &kernels_form, false, ""},
    {params_variants, &texts_form, false, "variants of parameters that belong to this operator"},
    {defaults, &text_map, false, "platform -> backend"},
    {fallback, &texts_form, false, "platforms or backends tried next, in order"},
    {etp, &etp_form, false, "eligibility-trace rules"},
    {when, &text_form, false, "condition of the build, or of the module, that it depends on"},
    {macro, &text_form, false, "macro of the project that it came through"},
};
constexpr Form operator_form{.name = "Operator", .fields = operator_fields};
constexpr Form operators_form{.item = &operator_form};

constexpr Field ffi_version_fields[] = {
    {major, &count_form, true, ""},
    {minor, &count_form, true, ""},
};
constexpr Form ffi_version_form{.name = "FfiVersion", .fields = ffi_version_fields};
constexpr std::string_view name_from_words[] = {"content", "counter", "explicit"};
constexpr Form name_from_form{.text = true, .words = name_from_words};
constexpr std::string_view handler_kinds[] = {"typed", "untyped"};
constexpr Form handler_kind_form{.text = true, .words = handler_kinds};
constexpr std::string_view spec_words =
    "`arg`, `ret`, `stream`, `attr.NAME:TYPE`; of XLA's bindings also `ctx.NAME`, `arg?` and "
    "`ret?` "
    "for optional ones, `arg*`, `ret*`, `attr.*` for all that are left";
constexpr Field source_handler_fields[] = {
    {symbol, &text_form, true, "C++ name"},
    {function, &function_or_null, false, "the implementation"},
    {stage, &text_form, false, ""},
    {spec, &texts_form, false, "what it binds, in order"},
    {parameters, &texts_form, false,
     "what the implementation takes, each a word as in `spec`; `?`: its type doesn't tell"},
    {traits, &texts_form, false, ""},
    {when, &text_form, false, "condition of the build that it depends on"},
    {macro, &text_form, false, "macro of the project that it came through"},
    {location, &location_form, false, ""},
};
constexpr Form source_handler_form{.name = "SourceHandler", .fields = source_handler_fields};
constexpr Form source_handlers_form{.item = &source_handler_form};

constexpr Field annotation_fields[] = {
    {name, &text_form, true, "the function that it announces"},
    {function, &function_or_null, false, "that function; null: the file doesn't define it"},
    {spec, &texts_form, false, "the tokens behind the name; missing: they are left to be guessed"},
    {parameters, &texts_form, false,
     "what the function takes, each a word as in `spec`; `?`: its type doesn't tell"},
    {native_signature, &text_form, false, "C++ text"},
    {when, &text_form, false, "condition of the build that it depends on"},
    {location, &location_form, false, ""},
};
constexpr Form annotation_form{.name = "Annotation", .fields = annotation_fields};
constexpr Form annotations_form{.item = &annotation_form};

constexpr Field target_fields[] = {
    {name, &text_form, true, ""},
    {platform, &text_form, false, ""},
    {content, &text_form, false, "content id of the code behind it"},
    {function, &function_or_null, false, ""},
    {symbol, &text_form, false, ""},
    {library, &text_form, false, "path"},
    {api_version, &count_form, false, "0 untyped, 1 typed"},
    {ffi_version, &ffi_version_form, false, ""},
    {traits, &texts_form, false, ""},
    {handler_kind, &handler_kind_form, false,
     "what the code behind it is, whatever was registered"},
    {stages, &texts_form, false, "stages that were registered"},
    {handlers, &early_handlers_form, false, "those that run before `symbol` does"},
    {declared_stages, &texts_form, false, "stages that the code behind it has"},
    {spec, &texts_form, false, spec_words},
    {pinned, &truth_form, false, "something keeps the callback alive"},
    {replace, &truth_form, false, ""},
    {name_from, &name_from_form, false, ""},
    {location, &location_form, false, ""},
    {when, &text_form, false, "condition of the build, or of the module, that it depends on"},
    {macro, &text_form, false, "macro of the project that it came through"},
};
constexpr Form target_form{.name = "Target", .fields = target_fields};
constexpr Form targets_form{.item = &target_form};

constexpr Form libraries_form{.item = &library_form};

constexpr Form caches_form{.item = &cache_form};

constexpr Field accepted_label_fields[] = {
    {kind, &text_form, true, ""},
    {mentioned, &count_form, false, "how often other code of the backend names it"},
};
constexpr Form accepted_label_form{.name = "AcceptedLabel", .fields = accepted_label_fields};
constexpr Form accepted_labels_form{.item = &accepted_label_form};
constexpr Field accepted_fields[] = {
    {expression, &text_form, false, "what is asked, as written"},
    {entries, &accepted_labels_form, false, "what is accepted by name"},
};
constexpr Form accepted_form{.name = "Accepted", .fields = accepted_fields};
constexpr Form accepted_list{.item = &accepted_form};
constexpr Field predicate_fields[] = {
    {name, &text_form, false, ""},
    {location, &location_form, false, ""},
    {kinds, &texts_form, false, "kinds that it accepts"},
    {always, &texts_form, false, "those of them that it asks nothing else of"},
    {refused, &texts_form, false, "kinds that it was asked for and refused"},
    {otherwise, &truth_form, false, "whether it accepts what it names nowhere"},
    {tested, &accepted_list, false, "values of other enumerations that it accepts by name"},
    {conditions, &texts_map, false,
     "kind -> what it asks besides, `$` standing for the thing that it is asked about"},
    {takes_backend, &truth_form, false, ""},
    {names, &text_map, false, "kind -> what it calls the kernel"},
};
constexpr Form predicate_form{.name = "Predicate", .fields = predicate_fields};
constexpr Field table_entry_fields[] = {
    {kind, &text_form, true, ""},
    {kernel, &text_form, true, ""},
    {asserts, &texts_form, false, "what the kernel asserts of the thing that it gets, `$`"},
    {uses, &texts_form, false, "arguments of the operator that it reads; others are dropped"},
    {location, &location_form, false, ""},
};
constexpr Form table_entry_form{.name = "TableEntry", .fields = table_entry_fields};
constexpr Form table_entries_form{.item = &table_entry_form};
constexpr Field table_fields[] = {
    {name, &text_form, false, ""},
    {location, &location_form, false, ""},
    {entries, &table_entries_form, false, ""},
    {default_, &text_or_null, false, "kernel that serves what is not listed; null: a typed miss"},
    {match, &text_form, false,
     "of one that says something of kinds: `name` of each, `some` that it is looked into, "
     "`text` that it gives one for a text, `position` "
     "where its texts stand in the order of the kinds, `row` that it is a column of a table of "
     "structures, `name`, and `kernel` what is named there; `joined` that it has names of "
     "kernels that code joins, `defined` those that kernels have"},
};
constexpr Form table_form{.name = "DispatchTable", .fields = table_fields};
constexpr Form tables_form{.item = &table_form};
constexpr Field exception_fields[] = {
    {kind, &text_form, true, ""},
    {reason, &text_form, false, ""},
};
constexpr Form exception_form{.name = "Exception", .fields = exception_fields};
constexpr Form exceptions_form{.item = &exception_form};
constexpr Field lookup_fields[] = {
    {operator_, &text_form, true, ""},
    {platform, &text_form, false, ""},
    {kind, &text_form, false, ""},
    {location, &location_form, false, ""},
    {inputs, &count_form, false, "operands that the call hands over"},
    {attributes, &attributes_form, false,
     "those that the call hands over, with types in the language of `spec`"},
    {always, &truth_form, false, "whoever imports the module asks"},
    {names, &texts_form, false,
     "names of what the call hands over by position; empty for what has none"},
};
constexpr Form lookup_form{.name = "Lookup", .fields = lookup_fields};
constexpr Form lookups_form{.item = &lookup_form};
constexpr Field dispatch_fields[] = {
    {operator_, &text_form, true, ""},
    {backend, &text_form, false, ""},
    {predicate, &predicate_form, false, "what is claimed"},
    {table, &table_form, false, "what is there"},
    {agree, &tables_form, false,
     "tables that each say something of every kind: a name, for example, as `kernel`"},
    {exceptions, &exceptions_form, false, ""},
    {kinds, &texts_form, false, "the whole enumeration"},
    {tier, &tier_form, false, "`typed`: libclang told what the text alone does not"},
    {lookups, &lookups_form, false, "triples that code asks for by name"},
};
constexpr Form dispatch_form{.name = "Dispatch", .fields = dispatch_fields};
constexpr Form dispatches_form{.item = &dispatch_form};

constexpr Field registration_fields[] = {
    {name, &text_form, true, ""},
    {platform, &text_form, false, ""},
    {location, &location_form, false, ""},
    {when, &text_form, false, "condition of the build, or of the module, that it depends on"},
    {macro, &text_form, false, "macro of the project that it came through"},
};
constexpr Form registration_form{.name = "Registration", .fields = registration_fields};
constexpr Form registrations_form{.item = &registration_form};

constexpr Field producer_fields[] = {
    {name, &text_form, false, ""},
    {version, &text_form, false, ""},
    {packages, &text_map, false, "package -> version"},
    {python, &text_form, false, ""},
};
constexpr Form producer_form{.name = "Producer", .fields = producer_fields};
constexpr Form version_form{
    .count = true, .minimum = manifest_version, .maximum = manifest_version};

constexpr std::string_view duplicate_words[] = {"error", "warning", "replace", "ignore"};
constexpr Form duplicate_form{.text = true, .words = duplicate_words};

constexpr Field manifest_fields[] = {
    {schema_reference, &text_form, false, "address of the JSON Schema, for editors"},
    {opseal_manifest, &version_form, true, "version of the format"},
    {producer, &producer_form, false, "who wrote it"},
    {tree, &tree_form, false, "the sources that it was read from, where it was read from sources"},
    {system, &system_form, false, "spelling and matching rules in force"},
    {platforms, &texts_form, false, "platforms that the registry knows"},
    {required_platforms, &texts_form, false, "platforms promised for every operator"},
    {platform_aliases, &text_map, false, "name -> name"},
    {architectures, &texts_form, false, "fleet"},
    {devices, &texts_form, false, "what the machine of the walk had"},
    {global_backends, &text_map, false, "platform -> backend set for every operator"},
    {backend_fallbacks, &texts_form, false, "platforms with a fallback for everything"},
    {opsets, &count_map, false, "domain -> newest released version"},
    {on_duplicate, &duplicate_form, false,
     "what the registry does with a second registration of a name: `replace` and `ignore` keep one "
     "without a word"},
    {remarks, &texts_form, false, ""},
    {joins, &signatures_form, false,
     "each a list of names of registrations, of any system, that are one operator"},
    {registrations, &registrations_form, false, "log in order of registration"},
    {registrars, &registrar_objects_form, false, "objects and calls of code that register"},
    {operators, &operators_form, false, ""},
    {targets, &targets_form, false, "log in order of registration"},
    {handlers, &source_handlers_form, false, "handlers of XLA's FFI that the sources define"},
    {annotations, &annotations_form, false,
     "comments by which a source announces functions to a builder"},
    {functions, &bound_functions_form, false,
     "what modules of C++ give to Python; of system `triton` kernels that Python makes"},
    {uses, &uses_form, false,
     "what Python takes from modules of C++; of system `triton` launches of its kernels"},
    {distribution, &distribution_form, false, "the package that holds the libraries"},
    {libraries, &libraries_form, false, ""},
    {caches, &caches_form, false, ""},
    {dispatch, &dispatches_form, false, ""},
    {arch_tests, &arch_tests_form, false,
     "conditionals of sources that compare `__CUDA_ARCH__` with something"},
    {launches, &kernel_launches_form, false, "kernels that code of the host starts"},
    {device_functions, &device_functions_form, false, "kernels that sources define"},
    {pointers, &kept_pointers_form, false,
     "pointers into tensors that are kept beyond the statement which takes them"},
    {probes, &probes_form, false, "what kernels did when they were called"},
};

}  // namespace

constinit const Form manifest_form{.name = "Manifest", .fields = manifest_fields};

}  // namespace opseal
