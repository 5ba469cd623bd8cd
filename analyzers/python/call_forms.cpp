#include "analyzers/python/call_forms.h"

#include <algorithm>
#include <array>

namespace opseal {

namespace {

using Home = PythonHome;
using Kind = PythonKind;

constexpr std::string_view kernel = "kg:function asdefault";
constexpr std::string_view one_rule = "fun:function";
constexpr std::string_view of_primitive = "primitive:object rule:function";

// Sorted by name.
constexpr PythonCallForm forms[] = {
    {"ETPPrimitive", Home::anywhere, Kind::primitive, "name:name"},
    {"Library", Home::torch_library, Kind::torch_library, "ns:namespace kind dispatch_key:key"},
    {"Primitive", Home::jax_core, Kind::primitive, "name:name"},
    {"XLACustomKernel", Home::anywhere, Kind::primitive, "name:name doc"},
    {"_scoped_library", Home::torch_library, Kind::torch_library,
     "ns:namespace kind dispatch_key:key"},
    {"cfunc", Home::numba, Kind::numba_kernel, "signature", {}, {}, true},
    {"custom_jvp",
     Home::jax,
     Kind::custom_derivative,
     "fun:function nondiff_argnums",
     {},
     {},
     true},
    {"custom_op", Home::torch_library, Kind::torch_custom_op,
     "name:name fn:function | mutates_args device_types:key schema:schema tags"},
    {"custom_vjp",
     Home::jax,
     Kind::custom_derivative,
     "fun:function nondiff_argnums",
     {},
     {},
     true},
    {"def_abstract_eval", Home::method, Kind::primitive_abstract, one_rule},
    {"def_batching_rule", Home::method, Kind::primitive_batching, one_rule},
    {"def_benchmark_data", Home::method, Kind::primitive_remark, one_rule},
    {"def_call", Home::method, Kind::primitive_remark, one_rule},
    {"def_cuda_raw_kernel", Home::method, Kind::primitive_kernel, kernel, "gpu", "cuda_raw"},
    {"def_effectful_abstract_eval", Home::method, Kind::primitive_abstract, one_rule},
    {"def_impl", Home::method, Kind::primitive_impl, one_rule},
    {"def_jvp_rule", Home::method, Kind::primitive_jvp, one_rule},
    {"def_jvp_rule2", Home::method, Kind::primitive_jvp, "*:function"},
    {"def_kernel", Home::method, Kind::primitive_kernel,
     "backend:backend platform:key kg:function asdefault"},
    {"def_numba_cuda_kernel", Home::method, Kind::primitive_kernel, kernel, "gpu", "numba_cuda"},
    {"def_numba_kernel", Home::method, Kind::primitive_kernel, kernel, "cpu", "numba"},
    {"def_pallas_kernel",
     Home::method,
     Kind::primitive_kernel,
     "platform:key kg:function asdefault",
     {},
     "pallas"},
    {"def_tags", Home::method, Kind::primitive_remark, "*"},
    {"def_transpose_rule", Home::method, Kind::primitive_transpose, one_rule},
    {"def_triton_kernel", Home::method, Kind::primitive_kernel, kernel, "gpu", "triton"},
    {"def_warp_kernel", Home::method, Kind::primitive_kernel, kernel, "gpu", "warp"},
    {"defbilinear", Home::jax_ad, Kind::primitive_jvp,
     "prim:object lhs_rule:function rhs_rule:function"},
    {"defbroadcasting", Home::jax, Kind::primitive_batching, "prim:object"},
    {"define", Home::torch_library, Kind::torch_define,
     "qualname:name schema:schema | lib:library tags"},
    {"define", Home::torch_library_object, Kind::torch_define,
     "schema:schema alias_analysis | tags"},
    {"defjvp", Home::jax_ad, Kind::primitive_jvp, "primitive:object *:function"},
    {"defjvp", Home::method, Kind::derivative_rules, "jvp:function | symbolic_zeros"},
    {"defjvp2", Home::jax_ad, Kind::primitive_jvp, "primitive:object *:function"},
    {"defjvps", Home::method, Kind::derivative_rules, "*:function"},
    {"deflinear", Home::jax_ad, Kind::primitive_transpose, of_primitive},
    {"deflinear2", Home::jax_ad, Kind::primitive_transpose, of_primitive},
    {"defvectorized", Home::jax, Kind::primitive_batching, "prim:object"},
    {"defvjp", Home::method, Kind::derivative_rules,
     "fwd:function bwd:function | symbolic_zeros optimize_remat"},
    {"direct_register_custom_op", Home::anywhere, Kind::torch_direct,
     "op_name:name op_func:function mutates_args fake_impl:fake target_lib:library "
     "dispatch_key:key tags"},
    {"ffi_call", Home::jax, Kind::ffi_lookup,
     "target_name:name result_shape_dtypes | has_side_effect vmap_method input_layouts "
     "output_layouts input_output_aliases custom_call_api_version legacy_backend_config"},
    {"ffi_lowering", Home::jax, Kind::ffi_lookup,
     "call_target_name:name | operand_layouts result_layouts backend_config "
     "skip_ffi_layout_processing operand_output_aliases has_side_effect api_version"},
    {"generated_jit", Home::numba, Kind::numba_kernel, "function:function", {}, {}, true},
    {"get_global_func", Home::tvm, Kind::tvm_lookup, "name:name allow_missing"},
    {"guvectorize", Home::numba, Kind::numba_kernel, "signatures layout", {}, {}, true},
    {"impl", Home::torch_library, Kind::torch_impl,
     "qualname:name types:key func:function | lib:library"},
    {"impl", Home::torch_library_object, Kind::torch_impl,
     "op_name:name fn:function dispatch_key:key with_keyset | allow_override"},
    {"impl_abstract", Home::torch_library, Kind::torch_fake,
     "qualname:name func:function | lib:library"},
    {"intrinsic", Home::numba, Kind::numba_extension, "", {}, {}, true},
    {"jit", Home::triton, Kind::triton_kernel, "fn:function", {}, {}, true},
    {"jit", Home::numba, Kind::numba_kernel, "signature_or_function", {}, {}, true},
    {"load_cpp_file", Home::anywhere, Kind::ffi_library, "filepath functions | name:name"},
    {"load_cpp_inline", Home::anywhere, Kind::ffi_library, "name:name cpp_sources functions"},
    {"load_cuda_dir", Home::anywhere, Kind::ffi_library, "directory functions | name:name"},
    {"load_cuda_file", Home::anywhere, Kind::ffi_library, "filepath functions | name:name"},
    {"load_cuda_inline", Home::anywhere, Kind::ffi_library, "name:name cuda_sources functions"},
    {"lower_builtin", Home::numba, Kind::numba_extension, "*"},
    {"njit", Home::numba, Kind::numba_kernel, "signature_or_function", {}, {}, true},
    {"onnx_op", Home::anywhere, Kind::onnx_function, "| op_type:name inputs outputs attrs"},
    {"overload", Home::numba, Kind::numba_extension, "func:name"},
    {"overload_attribute", Home::numba, Kind::numba_extension, "typ attr:name"},
    {"overload_method", Home::numba, Kind::numba_extension, "typ attr:name"},
    {"register_autograd", Home::torch_library, Kind::torch_autograd,
     "op:name backward:function | setup_context:function lib:library"},
    {"register_autograd", Home::torch_operator_object, Kind::torch_autograd,
     "backward:function | setup_context:function"},
    {"register_batched_counterpart", Home::anywhere, Kind::etp_rules,
     "primitive:object counterpart"},
    {"register_custom_call_target", Home::anywhere, Kind::ffi_target,
     "name:name fn:function platform:key api_version traits"},
    {"register_dt_to_t", Home::method, Kind::etp_rules, "dt_to_t:function"},
    {"register_etp_rules", Home::method, Kind::etp_rules,
     "| dt_to_t:function yw_to_w:function xy_to_dw:function init_drtrl:function init_pp:function "
     "fast_path pp_x_repr:function snap_anchor:function snap_adjacency:function"},
    {"register_fake", Home::torch_library, Kind::torch_fake,
     "op:name func:function | lib:library allow_override"},
    {"register_fake", Home::torch_operator_object, Kind::torch_fake, "fn:function"},
    {"register_ffi_target", Home::jax, Kind::ffi_target,
     "name:name fn:function platform:key api_version"},
    {"register_ffi_target", Home::anywhere, Kind::ffi_target,
     "target_name:name module func_name | platform:key replace content_id"},
    {"register_func",
     Home::tvm,
     Kind::tvm_function,
     "func_name:name f:function override",
     {},
     {},
     true},
    {"register_general_batching", Home::method, Kind::primitive_batching, ""},
    {"register_global_func",
     Home::tvm,
     Kind::tvm_function,
     "func_name:name f:function override",
     {},
     {},
     true},
    {"register_init_drtrl", Home::method, Kind::etp_rules, "init_drtrl:function"},
    {"register_init_pp", Home::method, Kind::etp_rules, "init_pp:function"},
    {"register_jitable", Home::numba, Kind::numba_extension, "", {}, {}, true},
    {"register_kernel", Home::torch_library, Kind::torch_kernel,
     "op:name device_types:key func:function | lib:library"},
    {"register_kernel", Home::torch_operator_object, Kind::torch_kernel,
     "device_types:key fn:function"},
    {"register_lowering", Home::jax_mlir, Kind::primitive_lowering,
     "prim:object rule:function platform:key inline cacheable"},
    {"register_object", Home::tvm, Kind::tvm_object, "type_key:name init", {}, {}, true},
    {"register_primitive", Home::anywhere, Kind::primitive,
     "name:name impl_fn:function | batched gradient_enabled trainable_invars_fn x_invar_index "
     "y_outvar_index"},
    {"register_vmap", Home::torch_library, Kind::torch_vmap, "op:name func:function | lib:library"},
    {"register_vmap", Home::torch_operator_object, Kind::torch_vmap, "func:function"},
    {"register_xy_to_dw", Home::method, Kind::etp_rules, "xy_to_dw:function"},
    {"register_yw_to_w", Home::method, Kind::etp_rules, "yw_to_w:function"},
    {"stencil", Home::numba, Kind::numba_kernel, "func_or_mode", {}, {}, true},
    {"torch_compile_guard", Home::anywhere, Kind::torch_direct,
     "mutates_args device calling_func_:function gen_fake:fake"},
    {"triton_op", Home::torch_library, Kind::torch_triton_op,
     "name:name fn:function | mutates_args schema:schema"},
    {"vectorize", Home::numba, Kind::numba_kernel, "signatures", {}, {}, true},
};

struct ByName {
  bool operator()(const PythonCallForm& form, std::string_view name) const {
    return form.name < name;
  }
  bool operator()(std::string_view name, const PythonCallForm& form) const {
    return name < form.name;
  }
};

constexpr bool sorted() {
  for (std::size_t i = 1; i < std::size(forms); ++i) {
    if (forms[i].name < forms[i - 1].name) return false;
  }
  return true;
}
static_assert(sorted());

// Reverse mode evaluates a part of the JVP first: who says how for an operator needs no transpose
// of it.
constexpr std::array<PythonTableForm, 7> tables = {{
    {"axis_primitive_batchers", Kind::primitive_batching},
    {"custom_partial_eval_rules", Kind::primitive_transpose},
    {"fancy_primitive_batchers", Kind::primitive_batching},
    {"primitive_batchers", Kind::primitive_batching},
    {"primitive_jvps", Kind::primitive_jvp},
    {"primitive_linearizations", Kind::primitive_jvp},
    {"primitive_transposes", Kind::primitive_transpose},
}};

}  // namespace

std::span<const PythonCallForm> call_forms(std::string_view name) {
  const auto [first, last] = std::equal_range(std::begin(forms), std::end(forms), name, ByName());
  return {first, last};
}

const PythonTableForm* table_form(std::string_view name) {
  const auto found = std::find_if(tables.begin(), tables.end(),
                                  [&](const PythonTableForm& form) { return form.name == name; });
  return found == tables.end() ? nullptr : &*found;
}

}  // namespace opseal
