#pragma once

#include <string_view>

#include "opseal/form.h"

// Parts of the manifest format that several of its objects are made of.
namespace opseal::forms {

using enum Key;

inline constexpr Form text_form{.text = true};
inline constexpr Form text_or_null{.null = true, .text = true};
inline constexpr Form truth_form{.truth = true};
inline constexpr Form count_form{.count = true};
inline constexpr Form count_or_null{.null = true, .count = true};
inline constexpr Form real_form{.real = true};
inline constexpr Form bound_or_null{.null = true, .real = true, .not_negative = true};
inline constexpr Form texts_form{.item = &text_form};
inline constexpr Form signatures_form{.item = &texts_form};
inline constexpr Form counts_form{.item = &count_form};
inline constexpr Form text_map{.map_value = &text_form};
inline constexpr Form texts_map{.map_value = &texts_form};
inline constexpr Form count_map{.map_value = &count_form};

inline constexpr std::string_view system_words[] = {"brainevent",
                                                    "jax",
                                                    "braintrace",
                                                    "torch",
                                                    "onnxruntime",
                                                    "tensorflow",
                                                    "tflite",
                                                    "tensorrt",
                                                    "ggml",
                                                    "tvm-ffi",
                                                    "executorch",
                                                    "fuel",
                                                    "torch-autograd",
                                                    "jax-derivatives",
                                                    "paddle",
                                                    "engine",
                                                    "triton",
                                                    "ctypes",
                                                    "mlx",
                                                    "torch-native",
                                                    "onnxruntime-extensions"};
inline constexpr Form system_form{.text = true, .words = system_words};

inline constexpr std::string_view tier_words[] = {"lexed", "typed"};
inline constexpr Form tier_form{.text = true, .words = tier_words};

inline constexpr Field location_fields[] = {
    {file, &text_form, true, "path relative to the package or repository, with `/`"},
    {line, &count_form, false, "from 1"},
    {column, &count_form, false, "from 1"},
};
inline constexpr Form location_form{.name = "Location", .fields = location_fields};
// Python builtins and compiled functions have no place, which a dump may say.
inline constexpr Form location_or_null{
    .name = "FunctionLocation", .null = true, .fields = location_fields};

inline constexpr Form strides_form{.null = true, .item = &real_form};
inline constexpr Form shape_item{.null = true, .count = true, .text = true};
inline constexpr Form shape_form{.null = true, .item = &shape_item};
inline constexpr Field operand_fields[] = {
    {name, &text_form, false, ""},
    {dtypes, &texts_form, false, "dtypes taken, as the system spells them"},
    {rank, &count_or_null, false, "number of axes; null: any"},
    {shape, &shape_form, false, "extent of each axis: a number, a name, or null for any"},
    {strides, &strides_form, false, "elements, not bytes"},
    {differentiable, &truth_form, false, "false: no gradient on purpose"},
    {mutated, &truth_form, false, "the kernel writes it"},
    {optional, &truth_form, false, "may be left out"},
    {variadic, &truth_form, false, "stands for any number of operands"},
    {layout, &text_form, false, "for example `contiguous`"},
    {type, &text_form, false, "the system's own words"},
    {alias, &text_form, false, "alias set, for example `a!`"},
    {tangent_of, &text_form, false,
     "of an operator with `derivative_of`: the operand of that one whose tangent it is"},
    {cotangent_of, &text_form, false, "likewise its cotangent: the gradient with respect to it"},
};
inline constexpr Form operand_form{.name = "Operand", .fields = operand_fields};
inline constexpr Form operands_form{.item = &operand_form};

// Elements of `libraries`, and the package that holds them.
extern const Form cache_form;
extern const Form library_form;
extern const Form distribution_form;

// Modules of C++, and the Python that asks for what they give.
extern const Form choices_form;
extern const Form bound_functions_form;
extern const Form uses_form;

// The sources, and what they say of code around registrations.
extern const Form tree_form;
extern const Form registrar_objects_form;
extern const Form arch_tests_form;
extern const Form kernel_launches_form;
extern const Form kept_pointers_form;
extern const Form device_functions_form;

// What kernels did when they were called.
extern const Form probes_form;

}  // namespace opseal::forms
