// What a manifest says of the sources that it was read from, and of their code around
// registrations, as `formats.md` (docs/formats.md) fixes it.

#include "analyzers/forms.h"

namespace opseal::forms {
namespace {

constexpr std::string_view storage_words[] = {"automatic", "temporary", "static"};
constexpr Form storage_form{.text = true, .words = storage_words};
constexpr std::string_view status_words[] = {"checked", "dropped", "swallowed", "returned",
                                             "continued"};
constexpr Form status_form{.text = true, .words = status_words};
constexpr Field registrar_use_fields[] = {
    {name, &text_form, true, "qualified C++ name"},
    {location, &location_form, false, "of its definition"},
};
constexpr Form registrar_use_form{.name = "RegistrarUse", .fields = registrar_use_fields};
constexpr Form registrar_uses_form{.item = &registrar_use_form};
constexpr Field registrar_object_fields[] = {
    {type, &text_form, true,
     "C++ type of the object, or the function that registers or tells a failure"},
    {name, &text_form, false, "of the object"},
    {storage, &storage_form, false,
     "how long it lives: to the end of a function that ends, or of the statement"},
    {status, &status_form, false,
     "what becomes of its answer: a result that nobody reads, or exceptions that nobody sees; or "
     "what a function does after it told a failure"},
    {operator_, &text_form, false, "as which a kernel, `type`, chooses its code"},
    {max, &count_form, false, "entries that it has room for"},
    {calls, &count_form, false, "entries that are added whatever happens"},
    {replace, &truth_form, false,
     "it hands a target to XLA, under a name that may be registered to replace its handler"},
    {reads, &texts_form, false, "of an error that tells of a missed look-up: what was looked into"},
    {listed, &texts_form, false, "and what it says is there, as written; empty: nothing, ever"},
    {namespace_, &text_form, false, "of a block that takes a namespace as a whole"},
    {when, &text_form, false, "condition of the build that it depends on"},
    {uses, &registrar_uses_form, false,
     "objects that its initialization reads, of other units, and made by code when the program "
     "starts"},
    {library, &text_form, false, "static library that has its file"},
    {loaded_by, &texts_form, false,
     "programs and libraries that are linked with that library and name nothing of the file"},
    {location, &location_form, false, ""},
    {tier, &tier_form, false, "`typed`: libclang told it"},
};
constexpr Form registrar_object_form{.name = "CodeRegistrar", .fields = registrar_object_fields};

constexpr std::string_view side_words[] = {"host", "host_compiler", "device", "both"};
constexpr Form side_form{.text = true, .words = side_words};
constexpr std::string_view test_words[] = {"always", "never"};
constexpr Form test_status_form{.text = true, .words = test_words};
constexpr Field arch_test_fields[] = {
    {condition, &text_form, true, "as written"},
    {side, &side_form, false,
     "`host`: a function of the host, in a file that holds code for devices too; `host_compiler`: "
     "the compiler for devices never reads the file"},
    {status, &test_status_form, false, "how it comes out in code of the host"},
    {function, &text_form, false, "within which it stands"},
    {location, &location_form, false, ""},
    {when, &text_form, false, "condition of the build that it depends on"},
};
constexpr Form arch_test_form{.name = "ArchTest", .fields = arch_test_fields};

constexpr Field kernel_launch_fields[] = {
    {kernel, &text_form, false, "without template arguments"},
    {function, &text_form, false, "of the host, within which it stands"},
    {checked, &truth_form, false,
     "its status is used, or the error of launches is read after it: there, or by who calls the "
     "function"},
    {pinned, &truth_form, false,
     "the function makes a device the current one; false: it takes tensors, and neither it nor who "
     "calls it does"},
    {tier, &tier_form, false,
     "`typed`: libclang told that this call starts a kernel and gives its error"},
    {exempt, &truth_form, false, "a comment at the launch accepts that nobody reads its error"},
    {conditions, &texts_form, false,
     "what code of the host asks of the device's capability on the way to it, as written; empty: "
     "nothing"},
    {guard, &text_form, false,
     "what is sure of the device's capability where it is started, by the function, as written"},
    {location, &location_form, false, ""},
    {when, &text_form, false, "condition of the build that it depends on"},
    {macro, &text_form, false, "macro of the project that it came through"},
};
constexpr Form kernel_launch_form{.name = "KernelLaunch", .fields = kernel_launch_fields};

constexpr std::string_view holder_words[] = {"named", "temporary"};
constexpr Form holder_form{.text = true, .words = holder_words};
constexpr Field kept_pointer_fields[] = {
    {expression, &text_form, true, "as written"},
    {name, &text_form, false, "argument of the function whose untyped pointer is cast"},
    {holder, &holder_form, false,
     "what owns the memory: a `named` tensor, or a `temporary` one that dies with the statement"},
    {contiguous, &truth_form, false,
     "of the tensor's pointer that is handed to code without its strides: the function, or who "
     "calls it, makes sure that it is dense; false: nobody does"},
    {type, &text_form, false, "of the variable whose address it is, or of the temporary"},
    {value, &text_form, false, "number that the variable begins as"},
    {cast, &text_form, false, "type that it is cast to point to"},
    {checked, &truth_form, false,
     "of a tensor's untyped pointer that is cast: the function, or who calls it, asks for the "
     "dtype "
     "or may; false: nobody does"},
    {function, &text_form, false, "within which it stands"},
    {location, &location_form, false, ""},
    {when, &text_form, false, "condition of the build that it depends on"},
    {tier, &tier_form, false, "`typed`: libclang told it"},
};
constexpr Form kept_pointer_form{.name = "KeptPointer", .fields = kept_pointer_fields};

constexpr std::string_view otherwise_words[] = {"nothing", "assert", "trap", "code"};
constexpr Form guard_otherwise_form{.text = true, .words = otherwise_words};
constexpr Field device_function_fields[] = {
    {name, &text_form, true, ""},
    {parameters, &texts_form, false, "names of those that have one"},
    {unread, &texts_form, false, "parameters that its body doesn't name"},
    {contiguous, &truth_form, false,
     "something in its file asks whether a tensor is dense, or makes it so"},
    {guard, &text_form, false,
     "condition on `__CUDA_ARCH__` under which its whole body stands, as written"},
    {otherwise, &guard_otherwise_form, false,
     "what the body is where the guard is false: `nothing`, only `assert`, a `trap`, or other "
     "`code`"},
    {location, &location_form, false, ""},
    {when, &text_form, false, "condition of the build that it depends on"},
};
constexpr Form device_function_form{.name = "DeviceFunction", .fields = device_function_fields};

constexpr Field undecided_fields[] = {
    {name, &text_form, false, "as it is written"},
    {reason, &text_form, false, "what keeps it from being known"},
    {location, &location_form, false, ""},
};
constexpr Form undecided_form{.name = "Undecided", .fields = undecided_fields};
constexpr Form undecided_list{.item = &undecided_form};
constexpr Field ignore_fields[] = {
    {name, &text_form, true, "id of a rule"},
    {reason, &text_form, false, ""},
    {location, &location_form, false, ""},
    {covered, &texts_form, false,
     "JSON pointers, from the top of the file, to the facts of the lines that it speaks of"},
};
constexpr Form ignore_form{.name = "Ignore", .fields = ignore_fields};
constexpr Form ignores_form{.item = &ignore_form};
constexpr Field tree_fields[] = {
    {files, &count_form, false, "sources that register or look up something"},
    {partial, &truth_form, false,
     "true: other files of the project were not given, so that what is missing may be there"},
    {undecided, &undecided_list, false,
     "registrations whose name is only known when the code runs"},
    {exceptions, &ignores_form, false,
     "comments that accept a finding: `opseal: ignore(rule): reason`"},
};

}  // namespace

constinit const Form tree_form{.name = "SourceTree", .fields = tree_fields};
constinit const Form registrar_objects_form{.item = &registrar_object_form};
constinit const Form arch_tests_form{.item = &arch_test_form};
constinit const Form kernel_launches_form{.item = &kernel_launch_form};
constinit const Form kept_pointers_form{.item = &kept_pointer_form};
constinit const Form device_functions_form{.item = &device_function_form};

}  // namespace opseal::forms
