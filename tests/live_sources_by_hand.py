"""Files of the distributions of live_sources_table.py, each registration counted by hand."""

# Counted from the text of each file, with eyes and search patterns, not with opseal: {distribution:
# [(file, what all names begin with, {"kind, kind": "name:line ..."})]}. A definition and a kernel
# are where the word that registers them is, a shape function, a gradient and an announced function
# where the function is defined, or else named; `autograd` is a class, `backward` its function.
# `kernel ?` has a key that only the running code knows; `kernel triton` is where one is defined,
# `launch` where one is started, `binding` what Python may call of an extension module, without the
# prefix. What one file defines in two branches counts once as an operator.
BY_HAND = {
    "deepspeed-0.19.8": [
        (
            "csrc/compile/init.cpp",
            "dc::",
            {
                "operator": (
                    "allgather_param:13 prefetch_params_fused:14 wait_allgather:17 "
                    "release_param:18 reduce_grad:19 free_tensors:20 offload_tensor:21 "
                    "reload_tensor:22 wait_offload:23 wait_reload:24 offload_parameter:25 "
                    "reload_parameter:26 end_backward:27 test_call:29"
                ),
                "kernel CPU": (
                    "allgather_param:34 prefetch_params_fused:35 wait_allgather:36 "
                    "release_param:37 reduce_grad:38 free_tensors:39 offload_tensor:40 "
                    "reload_tensor:41 wait_offload:42 wait_reload:43 offload_parameter:44 "
                    "reload_parameter:45 end_backward:46 test_call:48"
                ),
                "kernel CUDA": (
                    "allgather_param:53 prefetch_params_fused:54 wait_allgather:55 "
                    "release_param:56 reduce_grad:57 free_tensors:58 offload_tensor:59 "
                    "reload_tensor:60 wait_offload:61 wait_reload:62 offload_parameter:63 "
                    "reload_parameter:64 end_backward:65 test_call:67"
                ),
                "kernel Meta": (
                    "allgather_param:72 prefetch_params_fused:73 release_param:74 "
                    "wait_allgather:75 reduce_grad:76 free_tensors:77 reload_parameter:78 "
                    "offload_parameter:79 end_backward:80"
                ),
                "kernel Undefined": "end_backward:85",
                "binding": (
                    "set_persistent:89 enable_profiling:90 is_profiling:91 init:92 cleanup:93 "
                    "register_param:94 update_param_grad_buffer:95 register_graph_z1:98 "
                    "register_graph_z2:101 register_z3_param:104 register_graph_z3:105 "
                    "start_forward:108 end_forward:109 start_backward:110 cleanup:111 reset:112 "
                    "invalidate_gathered_param:113 clear_all_gathered_params:114"
                ),
            },
        ),
        (
            "csrc/cpu/comm/shm_interface.cpp",
            "deepspeed::",
            {
                "operator": "inference_all_reduce:136 inference_all_reduce_:137",
                "kernel CPU": "inference_all_reduce:197 inference_all_reduce_:198",
                "kernel Meta": "inference_all_reduce:203 inference_all_reduce_:204",
                "kernel Functionalize": "inference_all_reduce_:209",
                "binding": "initialize:128 vector_kernel_level:129",
            },
        ),
        (
            "deepspeed/compile/custom_ops/all_to_all.py",
            "autosp::",
            {
                "operator, kernel CompositeExplicitAutograd": (
                    "all_to_all:11 all_gather_sequence:100 reduce_scatter_sequence:120"
                ),
                "fake": "all_to_all:78 all_gather_sequence:114 reduce_scatter_sequence:134",
                "gradient": "all_to_all:93 all_gather_sequence:145",
            },
        ),
        (
            "deepspeed/compile/custom_ops/tp_collectives.py",
            "autotp::",
            {
                "operator, kernel CompositeExplicitAutograd": (
                    "copy_to_tp_region:18 reduce_from_tp_region:34 gather_from_tp_region:51"
                ),
                "fake": "copy_to_tp_region:30 reduce_from_tp_region:47 gather_from_tp_region:90",
                "gradient": (
                    "copy_to_tp_region:94 reduce_from_tp_region:100 gather_from_tp_region:109"
                ),
            },
        ),
    ],
    "xformers-0.0.35": [
        (
            "xformers/csrc/sparse24/sparse24.cpp",
            "xformers::",
            {
                "operator": (
                    "sparse24_largest_mask_2d:4 sparse24_largest_with_Krandom_mask_2d:5 "
                    "_sparse24_pack_mask:7 _sparse24_reorder_meta:8 _sparse24_gemm:9 "
                    "_sparse24_pack_tensor_according_to_mask:10 sparse24_sparsify_both_ways:12 "
                    "_sparse24_meta_shuffle_test:14 sparse24_apply:16 "
                    "sparse24_apply_dense_output:18"
                ),
            },
        ),
        (
            "xformers/ops/seqpar.py",
            "xformers_python::sequence_parallel_",
            {
                "operator, kernel cuda": (
                    "leading_matmul_fwd:27 leading_matmul_bwd:69 trailing_matmul_fwd:222 "
                    "trailing_matmul_bwd:260"
                ),
                "fake": (
                    "leading_matmul_fwd:56 leading_matmul_bwd:170 trailing_matmul_fwd:248 "
                    "trailing_matmul_bwd:316"
                ),
                "gradient": "leading_matmul_fwd:187 trailing_matmul_fwd:333",
            },
        ),
    ],
    "vllm-0.33.0": [
        (
            "csrc/moe/torch_bindings.cpp",
            "_moe_C::",
            {
                "operator": (
                    "topk_softmax:8 topk_sigmoid:14 topk_softplus_sqrt:19 moe_sum:31 "
                    "moe_align_block_size:37 fused_globalize_align_block_size:48 "
                    "batched_moe_align_block_size:59 moe_lora_align_block_size:68 "
                    "moe_wna16_gemm:82 moe_wna16_marlin_gemm:90 moe_permute:104 "
                    "moe_permute_with_scratch:112 moe_prepare_scatter:121 moe_unpermute:128 "
                    "moe_permute_unpermute_supported:133 moe_permute_sort_workspace_size:134 "
                    "shuffle_rows:139 grouped_topk:144"
                ),
                "kernel CUDA": (
                    "topk_softmax:153 topk_sigmoid:154 topk_softplus_sqrt:155 moe_sum:156 "
                    "moe_align_block_size:157 fused_globalize_align_block_size:159 "
                    "batched_moe_align_block_size:162 moe_lora_align_block_size:164 "
                    "moe_wna16_gemm:166 shuffle_rows:167 grouped_topk:168"
                ),
                "kernel CompositeExplicitAutograd": (
                    "moe_permute_unpermute_supported:175 moe_permute_sort_workspace_size:177"
                ),
            },
        ),
        (
            "csrc/rocm/torch_bindings.cpp",
            "_rocm_C::",
            {
                "operator": (
                    "LLMM1:22 wvSplitK:28 wvSplitK_int4_g:36 wvSplitKrc:43 wvSplitKQ:49 "
                    "mxfp4_w4a8_gemv_rdna3:59 gptq_gemm_rdna3:64 gptq_gemm_rdna3_wmma:69 "
                    "moe_gptq_gemm_rdna3:74 paged_attention:87"
                ),
                "kernel CUDA": (
                    "LLMM1:25 wvSplitK:31 wvSplitK_int4_g:40 wvSplitKrc:46 wvSplitKQ:53 "
                    "mxfp4_w4a8_gemv_rdna3:61 gptq_gemm_rdna3:67 gptq_gemm_rdna3_wmma:72 "
                    "moe_gptq_gemm_rdna3:81 paged_attention:103"
                ),
            },
        ),
        (
            "csrc/custom_all_gather_reduce_scatter_ops.cpp",
            "_C_custom_ar::",
            {
                "operator": (
                    "custom_all_gather:7 mnnvl_lamport_all_gather:10 custom_reduce_scatter:14 "
                    "mnnvl_lamport_reduce_scatter:17 mnnvl_multimem_reduce_scatter:20"
                ),
                "kernel CUDA": (
                    "custom_all_gather:27 mnnvl_lamport_all_gather:28 custom_reduce_scatter:30 "
                    "mnnvl_lamport_reduce_scatter:31 mnnvl_multimem_reduce_scatter:33"
                ),
            },
        ),
        (
            "csrc/attention/octave_torch_bindings.cpp",
            "_C::",
            {
                "operator": (
                    "octave_cache_store:51 octave_decode:55 octave_decode_sparse:61 "
                    "octave_window_store:68 octave_rotate:73 octave_prefill:77"
                ),
                "kernel CUDA": (
                    "octave_cache_store:54 octave_decode:60 octave_decode_sparse:67 "
                    "octave_window_store:72 octave_rotate:76 octave_prefill:81"
                ),
            },
        ),
        (
            "csrc/rocm/quickreduce/torch_bindings.cpp",
            "_C_custom_ar::",
            {
                "operator": (
                    "qr_all_reduce:35 init_custom_qr:40 qr_destroy:41 qr_get_handle:42 "
                    "qr_open_handles:44 qr_max_size:47"
                ),
                "kernel CUDA": "qr_all_reduce:38",
                "kernel CompositeImplicitAutograd": (
                    "init_custom_qr:40 qr_destroy:41 qr_get_handle:42 qr_max_size:47"
                ),
                "kernel CPU": "qr_open_handles:45",
            },
        ),
        (
            "vllm/_aiter_ops.py",
            "",
            {
                "operator": (
                    "rocm_aiter_sparse_attn_indexer:3037 rocm_aiter_asm_moe_tkw1:3049 "
                    "rocm_aiter_fused_moe:3057 rocm_aiter_topk_softmax:3065 "
                    "rocm_aiter_topk_gating:3072 rocm_aiter_topk_sigmoid:3080 "
                    "rocm_aiter_biased_grouped_topk:3087 rocm_aiter_grouped_topk:3094 "
                    "rocm_aiter_fused_topk:3101 rocm_aiter_gather_kv_b_proj:3109 "
                    "rocm_aiter_mla_decode_fwd:3116 rocm_aiter_mla_decode_fwd_lse:3122 "
                    "rocm_aiter_w8a8_gemm:3129 _rocm_aiter_preshuffled_per_token_w8a8_gemm:3135 "
                    "rocm_aiter_hipb_mm_fp8:3141 rocm_aiter_triton_gemm_a8w8_blockscale:3147 "
                    "rocm_aiter_triton_gemm_a8w8_blockscale_preshuffle:3153 "
                    "rocm_aiter_gemm_a8w8_blockscale:3159 "
                    "rocm_aiter_gemm_a8w8_blockscale_bpreshuffle:3165 "
                    "rocm_aiter_rmsnorm_fused_dynamic_quant:3171 "
                    "rocm_aiter_rmsnorm_fused_add_dynamic_quant:3178 "
                    "rocm_aiter_rmsnorm_fp8_group_quant:3185 "
                    "rocm_aiter_fused_rms_fp8_per_tensor_static_quant:3191 "
                    "rocm_aiter_fused_add_rms_fp8_per_tensor_static_quant:3197 "
                    "rocm_aiter_fused_rms_gated_fp8_group_quant:3203 "
                    "rocm_aiter_rmsnorm_with_add_fp8_group_quant:3209 "
                    "rocm_aiter_act_mul_and_fp8_group_quant:3215 "
                    "rocm_aiter_triton_add_rmsnorm_pad:3221 rocm_aiter_group_fp8_quant:3228 "
                    "rocm_aiter_per_tensor_quant:3234 rocm_aiter_per_token_quant:3241 "
                    "aiter_fp8_attn_wrapper:3256 rocm_aiter_gemm_a8wfp4:3264 "
                    "rocm_aiter_triton_rotary_embedding:3273 "
                    "rocm_aiter_fused_allreduce_rmsnorm:3279 "
                    "rocm_aiter_fused_allreduce_rmsnorm_quant_per_group:3285 "
                    "rocm_aiter_fused_allreduce_rmsnorm_quant_per_group_with_bf16_norm:3291 "
                    "fused_mla_dual_rms_norm:3297 fused_mla_dual_rms_norm_per_token_quant:3304 "
                    "fused_mla_dual_rms_norm_group_quant:3311"
                ),
                "kernel ?": (
                    "rocm_aiter_sparse_attn_indexer:3037 rocm_aiter_asm_moe_tkw1:3049 "
                    "rocm_aiter_fused_moe:3057 rocm_aiter_topk_softmax:3065 "
                    "rocm_aiter_topk_gating:3072 rocm_aiter_topk_sigmoid:3080 "
                    "rocm_aiter_biased_grouped_topk:3087 rocm_aiter_grouped_topk:3094 "
                    "rocm_aiter_fused_topk:3101 rocm_aiter_gather_kv_b_proj:3109 "
                    "rocm_aiter_mla_decode_fwd:3116 rocm_aiter_mla_decode_fwd_lse:3122 "
                    "rocm_aiter_w8a8_gemm:3129 _rocm_aiter_preshuffled_per_token_w8a8_gemm:3135 "
                    "rocm_aiter_hipb_mm_fp8:3141 rocm_aiter_triton_gemm_a8w8_blockscale:3147 "
                    "rocm_aiter_triton_gemm_a8w8_blockscale_preshuffle:3153 "
                    "rocm_aiter_gemm_a8w8_blockscale:3159 "
                    "rocm_aiter_gemm_a8w8_blockscale_bpreshuffle:3165 "
                    "rocm_aiter_rmsnorm_fused_dynamic_quant:3171 "
                    "rocm_aiter_rmsnorm_fused_add_dynamic_quant:3178 "
                    "rocm_aiter_rmsnorm_fp8_group_quant:3185 "
                    "rocm_aiter_fused_rms_fp8_per_tensor_static_quant:3191 "
                    "rocm_aiter_fused_add_rms_fp8_per_tensor_static_quant:3197 "
                    "rocm_aiter_fused_rms_gated_fp8_group_quant:3203 "
                    "rocm_aiter_rmsnorm_with_add_fp8_group_quant:3209 "
                    "rocm_aiter_act_mul_and_fp8_group_quant:3215 "
                    "rocm_aiter_triton_add_rmsnorm_pad:3221 rocm_aiter_group_fp8_quant:3228 "
                    "rocm_aiter_per_tensor_quant:3234 rocm_aiter_per_token_quant:3241 "
                    "rocm_aiter_sparse_attn_indexer:3248 aiter_fp8_attn_wrapper:3256 "
                    "rocm_aiter_gemm_a8wfp4:3264 rocm_aiter_triton_rotary_embedding:3273 "
                    "rocm_aiter_fused_allreduce_rmsnorm:3279 "
                    "rocm_aiter_fused_allreduce_rmsnorm_quant_per_group:3285 "
                    "rocm_aiter_fused_allreduce_rmsnorm_quant_per_group_with_bf16_norm:3291 "
                    "fused_mla_dual_rms_norm:3297 fused_mla_dual_rms_norm_per_token_quant:3304 "
                    "fused_mla_dual_rms_norm_group_quant:3311"
                ),
                "fake": (
                    "rocm_aiter_sparse_attn_indexer:3041 rocm_aiter_asm_moe_tkw1:490 "
                    "rocm_aiter_fused_moe:416 rocm_aiter_topk_gating:558 "
                    "rocm_aiter_fused_topk:641 rocm_aiter_gather_kv_b_proj:704 "
                    "rocm_aiter_mla_decode_fwd_lse:875 rocm_aiter_w8a8_gemm:909 "
                    "_rocm_aiter_preshuffled_per_token_w8a8_gemm:939 rocm_aiter_hipb_mm_fp8:976 "
                    "rocm_aiter_triton_gemm_a8w8_blockscale:1001 "
                    "rocm_aiter_triton_gemm_a8w8_blockscale_preshuffle:1037 "
                    "rocm_aiter_gemm_a8w8_blockscale:1059 "
                    "rocm_aiter_gemm_a8w8_blockscale_bpreshuffle:1085 "
                    "rocm_aiter_rmsnorm_fused_dynamic_quant:1161 "
                    "rocm_aiter_rmsnorm_fused_add_dynamic_quant:1127 "
                    "rocm_aiter_rmsnorm_fp8_group_quant:1497 "
                    "rocm_aiter_fused_rms_fp8_per_tensor_static_quant:1534 "
                    "rocm_aiter_fused_add_rms_fp8_per_tensor_static_quant:1568 "
                    "rocm_aiter_fused_rms_gated_fp8_group_quant:1605 "
                    "rocm_aiter_rmsnorm_with_add_fp8_group_quant:1459 "
                    "rocm_aiter_act_mul_and_fp8_group_quant:1669 "
                    "rocm_aiter_triton_add_rmsnorm_pad:1706 rocm_aiter_group_fp8_quant:1637 "
                    "rocm_aiter_per_token_quant:1422 aiter_fp8_attn_wrapper:1992 "
                    "rocm_aiter_gemm_a8wfp4:1900 rocm_aiter_fused_allreduce_rmsnorm:1272 "
                    "rocm_aiter_fused_allreduce_rmsnorm_quant_per_group:1310 "
                    "rocm_aiter_fused_allreduce_rmsnorm_quant_per_group_with_bf16_norm:1365 "
                    "fused_mla_dual_rms_norm:1745 fused_mla_dual_rms_norm_per_token_quant:1798 "
                    "fused_mla_dual_rms_norm_group_quant:1860"
                ),
            },
        ),
    ],
    "apache-tvm-ffi-0.1.15.post2": [
        (
            "src/ffi/object.cc",
            "ffi.",
            {
                "operator": (
                    "GetRegisteredTypeKeys:690 GetInvalidObject:694 GetKwargsObject:695"
                ),
            },
        ),
        (
            "src/ffi/extra/module.cc",
            "ffi.Module",
            {
                "operator": (
                    "LoadFromFile:173 ImplementsFunction:174 GetFunctionMetadata:178 "
                    "GetFunctionDoc:182 GetFunction:186 GetPropertyMask:190 InspectSource:191 "
                    "GetKind:192 GetWriteFormats:193 WriteToFile:194 ImportModule:195 "
                    "ClearImports:196 GlobalsAdd:197 GlobalsRemove:198"
                ),
            },
        ),
        (
            "src/ffi/container.cc",
            "ffi.",
            {
                "operator": (
                    "Array:162 ArrayGetItem:166 ArraySize:167 ArrayContains:169 List:175 "
                    "ListGetItem:179 ListSetItem:180 ListSize:182 ListContains:184 "
                    "ListAppend:190 ListInsert:191 ListPop:195 ListErase:202 ListEraseRange:204 "
                    "ListReplaceSlice:208 ListReverse:223 ListClear:230 ListReserve:231 Map:233 "
                    "MapSize:242 MapGetItem:244 MapCount:245 MapForwardIterFunctor:249 "
                    "MapGetItemOrMissing:253 Dict:261 DictSize:270 DictGetItem:272 "
                    "DictSetItem:273 DictCount:275 DictErase:279 DictClear:280 "
                    "DictForwardIterFunctor:281 DictGetItemOrMissing:285 "
                    "ContainerFindFirstNonCPUDevice:293"
                ),
            },
        ),
    ],
    "tilelang-0.1.14": [
        (
            "src/layout/cute_layout.cc",
            "tl.cute.",
            {
                "operator": (
                    "swizzle_is_swizzled:2156 swizzle_to_swizzle_mode:2158 swizzle_recast:2160 "
                    "swizzle_parse:2164 make_int_const:2167 make_int_expr:2169 "
                    "make_scaled_basis:2171 make_int_tuple_tuple:2177 int_tuple_add:2182 "
                    "int_tuple_mul:2184 int_tuple_parse:2186 product:2188 make_layout:2192 "
                    "make_layout_concat:2196 with_shape:2198 layout_get:2202 layout_eval:2206 "
                    "layout_parse:2210 layout_shape:2212 layout_stride:2214 layout_rank:2217 "
                    "flatten:2219 layout_size:2221 coalesce:2223 right_inverse:2225 "
                    "left_inverse:2227 composition:2229 coalesce_max:2233 filter:2237 "
                    "congruent:2239 compatible:2241 coshape:2244 cosize:2246 complement:2248 "
                    "logical_divide:2252 logical_product:2256 tiled_product:2260 "
                    "blocked_product:2264 make_column_major_layout:2269 "
                    "make_row_major_layout:2271 make_identity_layout:2273 "
                    "composed_layout_recast:2276 layout_from_tilelang:2281 "
                    "layout_from_tilelang_hierarchical:2285 composed_layout_from_tilelang:2289 "
                    "restrict:2296"
                ),
            },
        ),
    ],
    "torch-scatter-2.1.2": [
        (
            "csrc/segment_csr.cpp",
            "",
            {
                "operator, kernel CompositeImplicitAutograd": (
                    "torch_scatter::segment_sum_csr:235 torch_scatter::segment_mean_csr:236 "
                    "torch_scatter::segment_min_csr:237 torch_scatter::segment_max_csr:238 "
                    "torch_scatter::gather_csr:239"
                ),
                "autograd": (
                    "SegmentSumCSR:57 SegmentMeanCSR:81 SegmentMinCSR:114 SegmentMaxCSR:145 "
                    "GatherCSR:176"
                ),
                "backward": (
                    "SegmentSumCSR:70 SegmentMeanCSR:94 SegmentMinCSR:130 SegmentMaxCSR:161 "
                    "GatherCSR:189"
                ),
            },
        ),
        (
            "csrc/segment_coo.cpp",
            "",
            {
                "operator, kernel CompositeImplicitAutograd": (
                    "torch_scatter::segment_sum_coo:242 torch_scatter::segment_mean_coo:243 "
                    "torch_scatter::segment_min_coo:244 torch_scatter::segment_max_coo:245 "
                    "torch_scatter::gather_coo:246"
                ),
                "autograd": (
                    "SegmentSumCOO:57 SegmentMeanCOO:83 SegmentMinCOO:115 SegmentMaxCOO:147 "
                    "GatherCOO:179"
                ),
                "backward": (
                    "SegmentSumCOO:72 SegmentMeanCOO:99 SegmentMinCOO:132 SegmentMaxCOO:164 "
                    "GatherCOO:192"
                ),
            },
        ),
    ],
    "brainevent-0.3.0": [
        (
            "brainevent/_csr/csr_delay_deliver.cu",
            "csr_delay_deliver_",
            {
                "annotation": (
                    "f32_bool:246 f32_float:248 f32_weighted:250 f64_bool:252 f64_float:254 "
                    "f64_weighted:256 f16_bool:258 f16_float:260 f16_weighted:262 bf16_bool:264 "
                    "bf16_float:266 bf16_weighted:268"
                ),
            },
        ),
    ],
    "mamba-ssm-2.3.2.post1": [
        (
            "mamba_ssm/ops/triton/ssd_chunk_scan.py",
            "",
            {
                "kernel triton": (
                    "_chunk_scan_fwd_kernel:49 _chunk_scan_fwd_kernel_wip:195 "
                    "_chunk_scan_bwd_dz_kernel:349 _chunk_scan_bwd_dstates_kernel:449 "
                    "_chunk_scan_bwd_dc_kernel:530 _chunk_scan_bwd_dx_kernel:641 "
                    "_chunk_scan_bwd_dcb_kernel:774 _chunk_scan_bwd_ddAcs_unstable_kernel:889 "
                    "_chunk_scan_bwd_ddAcs_stable_kernel_old:979 "
                    "_chunk_scan_bwd_ddAcs_stable_kernel:1098 "
                    "_chunk_scan_bwd_ddAcs_prev_kernel:1198"
                ),
                "launch": (
                    "_chunk_scan_fwd_kernel:1286 _chunk_scan_fwd_kernel_wip:1338 "
                    "_chunk_scan_bwd_dz_kernel:1391 _chunk_scan_bwd_dstates_kernel:1437 "
                    "_chunk_scan_bwd_dc_kernel:1492 _chunk_scan_bwd_dx_kernel:1593 "
                    "_chunk_scan_bwd_dcb_kernel:1541 _chunk_scan_bwd_ddAcs_unstable_kernel:1641 "
                    "_chunk_scan_bwd_ddAcs_stable_kernel_old:1681 "
                    "_chunk_scan_bwd_ddAcs_stable_kernel:1714 "
                    "_chunk_scan_bwd_ddAcs_prev_kernel:1748"
                ),
                "autograd": (
                    "ChunkScanFn:1764"
                ),
                "backward": (
                    "ChunkScanFn:1798"
                ),
            },
        ),
    ],
    "transformer-engine-torch-2.20.2": [
        (
            "csrc/extensions/pybind.cpp",
            "",
            {
                "binding": (
                    "fused_topk_with_score_function_fwd:143 "
                    "fused_topk_with_score_function_qb_fwd:149 "
                    "fused_topk_with_score_function_bwd:154 fused_score_for_moe_aux_loss_fwd:160 "
                    "fused_score_for_moe_aux_loss_bwd:164 fused_moe_aux_loss_fwd:167 "
                    "fused_moe_aux_loss_fwd_graph_safe:171 fused_moe_aux_loss_bwd:175 "
                    "nvfp4_quantize_with_amax:181 nvfp4_group_quantize_with_amax:183 quantize:209 "
                    "dequantize:211 create_empty_quantized_tensor:213 group_quantize:217 "
                    "group_scaled_swiglu:221 group_scaled_clamped_swiglu:226 group_dequantize:233 "
                    "bgrad_group_quantize:235 group_requantize_inplace:238 bgrad_quantize:244 "
                    "generic_gemm:246 glu:255 gelu:258 geglu:260 qgelu:262 qgeglu:264 relu:267 "
                    "reglu:269 srelu:271 sreglu:273 silu:276 swiglu:278 situglu:280 "
                    "clamped_swiglu:282 dglu:286 dgelu:289 dgeglu:291 dqgelu:293 dqgeglu:295 "
                    "drelu:298 dreglu:300 dsrelu:302 dsreglu:304 dsilu:307 dswiglu:309 "
                    "dsituglu:311 clamped_dswiglu:314 scaled_swiglu:319 scaled_situglu:322 "
                    "scaled_clamped_swiglu:325 scaled_srelu:329 scaled_dswiglu:331 "
                    "scaled_dsituglu:334 scaled_clamped_dswiglu:338 scaled_dsrelu:343 "
                    "dbias_dgelu:347 dbias_dsilu:349 dbias_drelu:351 dbias_dqgelu:353 "
                    "dbias_dsrelu:355 moe_permute_fwd:364 moe_permute_bwd:366 "
                    "moe_unpermute_fwd:368 moe_unpermute_bwd:370 scaled_softmax_forward:374 "
                    "scaled_softmax_backward:376 scaled_masked_softmax_forward:378 "
                    "scaled_masked_softmax_backward:381 "
                    "scaled_upper_triang_masked_softmax_forward:384 "
                    "scaled_upper_triang_masked_softmax_backward:387 "
                    "scaled_aligned_causal_masked_softmax_forward:390 "
                    "scaled_aligned_causal_masked_softmax_backward:394 layernorm_fwd:400 "
                    "layernorm_bwd:403 rmsnorm_fwd:404 rmsnorm_bwd:407 rmsnorm_bwd_add:408 "
                    "multi_tensor_quantize:410 split_quantize:412 "
                    "get_grouped_gemm_setup_workspace_size:415 te_general_grouped_gemm:417 "
                    "te_general_grouped_gemm_for_grouped_tensor:419 "
                    "te_general_grouped_gemm_for_discrete_in:422 "
                    "te_general_grouped_gemm_for_discrete_out:425 fp8_transpose:428 "
                    "nvfp4_data_transpose:431 nvfp4_2d_scale_transpose:434 "
                    "nvfp4_expand_scale_to_fp8:439 nvfp4_compute_per_block_scale:443 "
                    "nvfp4_compute_global_scale:447 nvfp4_fused_scale:450 "
                    "nvfp4_multi_tensor_fused_scale:455 nvfp4_2d_multi_tensor_transpose:463 "
                    "swap_first_dims:469 get_fused_attn_backend:472 compute_amax:474 "
                    "fused_amax_and_scale_update_after_reduction:477 "
                    "fp8_block_scaling_compute_partial_amax:481 "
                    "fp8_block_scaling_partial_cast:486 nvfp4_2d_compute_partial_amax:493 "
                    "nvfp4_multi_tensor_compute_partial_amax:498 nvfp4_2d_partial_cast:504 "
                    "nvfp4_multi_tensor_2d_partial_cast:509 "
                    "mxfp8_scaling_compute_partial_amax:515 mxfp8_scaling_partial_cast:520 "
                    "fused_multi_row_padding:525 fused_multi_row_unpadding:527 "
                    "swizzle_scales_for_gemm_:529 multi_tensor_swizzle_scales_for_gemm_:531 "
                    "multi_tensor_swizzle_scales_for_gemm_unchecked_:535 "
                    "grouped_swizzle_for_gemm:540 bulk_allocate:545 fa_prepare_fwd:551 "
                    "fa_prepare_bwd:553 multi_tensor_transpose_to_bhsd:556 "
                    "multi_tensor_pad_last_dim:561 fused_attn_fwd:564 fused_attn_bwd:566 "
                    "copy_to_kv_cache:568 convert_thd_to_bshd:570 convert_bshd_to_thd:572 "
                    "fused_rope_forward:576 fused_rope_backward:578 fused_qkv_rope_forward:580 "
                    "fused_qkv_rope_backward:582 dropout_fwd:589 dropout_bwd:591 "
                    "get_cublasLt_version:596 get_cudnn_version:598 copy_data_ptrs_to_device:600 "
                    "splits_to_offsets:602 splits_to_offsets_multi:605 get_num_cublas_streams:609 "
                    "thd_read_half_tensor:613 thd_second_half_lse_correction:617 "
                    "thd_read_second_half_lse:620 thd_out_correction:622 thd_grad_correction:625 "
                    "thd_get_partitioned_indices:628 thd_sequence_order_to_cp_rank_order:631 "
                    "thd_cp_rank_order_to_sequence_order:635 "
                    "thd_copy_valid_tokens_from_per_split_to_rank_local:639 "
                    "init_nvshmem_backend:645 create_nvshmem_tensor:648 "
                    "nvshmem_send_on_current_stream:650 nvshmem_wait_on_current_stream:654 "
                    "nvshmem_finalize:659 multi_tensor_scale:664 multi_tensor_scale_tensor:667 "
                    "multi_tensor_l2norm:670 multi_tensor_unscale_l2norm:673 "
                    "multi_tensor_adam:678 multi_tensor_adam_param_remainder:681 "
                    "multi_tensor_adam_fp8:686 multi_tensor_adam_capturable:689 "
                    "multi_tensor_adam_capturable_master:694 multi_tensor_sgd:699 "
                    "multi_tensor_compute_scale_and_scale_inv:702 "
                    "multi_tensor_compute_scale_inv_e8m0:705 cusolvermp_ctx_create:710 "
                    "cusolvermp_ctx_destroy:713 newton_schulz:715 "
                    "bulk_overlap_ag_with_external_gemm:721 device_supports_multicast:194 "
                    "get_stream_priority_range:194 ubuf_built_with_mpi:194 "
                    "nvte_built_with_cublasmp:194 grouped_mlp_experimental.swizzle_scales_and_pack_ptrs_for_discrete_weights:731"
                ),
            },
        ),
    ],
}
