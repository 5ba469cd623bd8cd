"""What live_sources_test.py expects: pinned source distributions, some of their files by hand."""


class Package:
    def __init__(self, pin, digest, counts, findings=(), folders=(".",)):
        self.name, self.version = pin.split("==")
        # SHA-256 of the distribution, as the index has it.
        self.digest = digest
        # {system: "fact=count ..."}; `device` is what the code for devices says.
        self.counts = counts
        # ("severity rule place", why it is true) of the default profile.
        self.findings = findings
        # Of the tree, each read as one.
        self.folders = folders

    @property
    def title(self):
        return "{}-{}".format(self.name, self.version)


PACKAGES = (
    Package(
        "apache-tvm-ffi==0.1.15.post2",
        "909be9ef5af07726aa9afd38a3111abc4d86cfd5927ebedfa9166232ce7d287b",
        {"tvm-ffi": "operators=100"},
        folders=("src",),
    ),
    Package(
        "brainevent==0.1.2",
        "2b68db1bb92d3b1f2aba6023093c4d7f80636c23ea33821095fa91bf69fef71f",
        {
            "brainevent": "operators=58 annotations=747 kernels=206",
            "device": "launches=32 arch_tests=2",
        },
        [
            (
                "error jvp-arity brainevent/_fcn/binary.py:1201",
                "rules for four inputs, of which its calls pass three",
            ),
            (
                "warning launch-unchecked brainevent/_csr/csr_to_csc.cu:151",
                "no read of the error in the file, others of the project have one",
            ),
            (
                "warning launch-unchecked brainevent/pararnn/_fused_gru_diag.cu:492",
                "no read of the error in the file, others of the project have one",
            ),
            (
                "warning launch-unchecked brainevent/pararnn/_fused_lstm_cifg_diag.cu:723",
                "no read of the error in the file, others of the project have one",
            ),
        ],
    ),
    Package(
        "brainevent==0.2.0",
        "a2963525ff49c85c7ea93af7b6e46ba7f2f3118d03aa2470af063964149ef40e",
        {
            "brainevent": "operators=51 annotations=595 kernels=181",
            "device": "launches=82 arch_tests=2",
        },
        [
            (
                "warning launch-unchecked brainevent/_csr/csr_to_csc.cu:151",
                "no read of the error in the file, others of the project have one",
            ),
        ],
    ),
    Package(
        "brainevent==0.3.0",
        "35b18b7b44380268dba9ebceff7f002523ad80aeda1ff6cc5e4a253abc28a1a2",
        {
            "brainevent": "operators=59 annotations=732 kernels=221",
            "device": "launches=97 arch_tests=2",
        },
        [
            (
                "warning launch-unchecked brainevent/_csr/csr_delay_deliver.cu:183",
                "no read of the error in the file, others of the project have one",
            ),
            (
                "warning launch-unchecked brainevent/_csr/csr_delay_deliver_layout.cu:156",
                "no read of the error in the file, others of the project have one",
            ),
            (
                "warning launch-unchecked brainevent/_csr/csr_to_csc.cu:151",
                "no read of the error in the file, others of the project have one",
            ),
            (
                "warning launch-unchecked brainevent/_tcsr/csr_to_csc.cu:151",
                "no read of the error in the file, others of the project have one",
            ),
        ],
    ),
    Package(
        "deepspeed==0.19.8",
        "9e491abd0827ea5c389dd702e15e11e13d83d904bac4a20d6c2a4cb37207a9af",
        {
            "torch": "operators=27 dispatch=73 kernels=105 abstract=7",
            "torch-autograd": "operators=44",
            "device": "launches=161 arch_tests=16",
        },
        [
            ("error host-arch-guard csrc/aio/py_lib/deepspeed_cpu_op.cpp:93", "no device compiler reads it"),
            ("error host-arch-guard deepspeed/ops/csrc/aio/py_lib/deepspeed_cpu_op.cpp:93", "its copy"),
            (
                "warning fake-missing csrc/compile/init.cpp:29",
                "an operator for tests, the only one of its kind without a Meta kernel",
            ),
        ],
    ),
    Package(
        "llama-cpp-python==0.3.36",
        "832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e",
        {"ggml": "dispatch=10", "device": "launches=186 arch_tests=24"},
        folders=("vendor/llama.cpp/ggml",),
    ),
    Package(
        "mamba-ssm==2.3.2.post1",
        "104cc47e9101e5401a675fa2b784f2952b9b037f3b1dd83b5ac544394e95d028",
        {"torch-autograd": "operators=16", "device": "launches=2"},
    ),
    Package(
        "onnx==1.23.2",
        "008cb0467b2bbee41448acc7da8b6f4e704624cb0d327a2d5adafc7ce19bc5b8",
        {},
        folders=("onnx",),
    ),
    Package(
        "tilelang==0.1.14",
        "7ae0fba6c63dae80b3c9c5c11a70bb8d7165794994f290f36e2fe87bfb143cfc",
        {"tvm-ffi": "operators=225", "device": "launches=3 arch_tests=19"},
        [
            (
                "warning launch-unchecked maint/precision/cuda_ops.cu:202",
                "no read of the error in the file",
            ),
        ],
    ),
    Package(
        "torch-scatter==2.1.2",
        "69b3aa435f2424ac6a1bfb6ff702da6eb73b33ca0db38fb26989c74159258e47",
        {
            "torch": "operators=16 dispatch=30 kernels=16",
            "torch-autograd": "operators=15",
            "device": "launches=16",
        },
        [
            (
                "warning launch-unchecked csrc/cuda/scatter_cuda.cu:123",
                "no read of the error in the tree",
            ),
        ],
    ),
    Package(
        "transformer-engine-torch==2.20.2",
        "4c40ced8a6261649e689076f198d4feaf02277b1ba18931a66eccdaceb33c43e",
        {"device": "launches=74 arch_tests=114"},
        [
            (
                "warning launch-unchecked common_headers/common/cast/nvfp4/quantize_transpose_nvfp4.cuh:1570",
                "none of its kind in the function, others of the project have one",
            ),
            (
                "warning launch-unchecked common_headers/common/cast/nvfp4/specialized/quantize_transpose_nvfp4_tuned_1D.cuh:816",
                "none of its kind in the function, others of the project have one",
            ),
            (
                "warning launch-unchecked common_headers/common/util/standalone_topk.cuh:1171",
                "none of its kind in the function, others of the project have one",
            ),
        ],
    ),
    Package(
        "vllm==0.33.0",
        "f4c33c2503d52bb411146afa9618a4f48bed68912f617e6803ac8d76e4c74112",
        {
            "torch": "operators=494 dispatch=291 kernels=497 abstract=180",
            "torch-autograd": "operators=1",
            "device": "launches=271 arch_tests=150",
        },
        [
            (
                "error fake-signature vllm/_custom_ops.py:2559",
                "three tuning arguments of the operator are missing",
            ),
        ],
    ),
    Package(
        "warp-lang==0.8.0",
        "713d2cc552cde1a6e739112c02cc11327d99715fa3d97fa9c2b382ff8be239aa",
        {"device": "launches=17"},
        [
            (
                "warning launch-unchecked warp/native/bvh.cu:111",
                "its macro reads the error in debug builds alone",
            ),
            (
                "warning launch-unchecked warp/native/hashgrid.cu:62",
                "its macro reads the error in debug builds alone",
            ),
            (
                "warning launch-unchecked warp/native/mesh.cu:50",
                "its macro reads the error in debug builds alone",
            ),
            (
                "warning launch-unchecked warp/native/volume.cu:31",
                "its macro reads the error in debug builds alone",
            ),
            (
                "warning launch-unchecked warp/native/warp.cu:278",
                "its macro reads the error in debug builds alone",
            ),
        ],
        folders=("warp/native",),
    ),
    Package(
        "xformers==0.0.35",
        "f7fc183a58e4bf0e2ae339a18fb1b1d4a37854c0f2545b4f360fef001646ab76",
        {
            "torch": "operators=34 dispatch=6 kernels=44 abstract=12",
            "torch-autograd": "operators=11",
            "device": "launches=7",
        },
        [
            (
                "error namespace-wrong xformers/ops/fmha/__init__.py:325",
                "a namespace without its last letter, though its users spell it so, too",
            ),
            (
                "warning launch-unchecked xformers/csrc/sparse24/sparse24_largest_mask_2d.cu:213",
                "no read of the error in the file",
            ),
            (
                "warning launch-unchecked xformers/csrc/sparse24/sparse24_pack_test.cu:54",
                "no read of the error in the file",
            ),
            (
                "warning schema-arity xformers/ops/fmha/__init__.py:332",
                "fails where bias, dropout or scale are passed",
            ),
        ],
    ),
)

# Counted from the text of each file, with eyes and search patterns, not with opseal: {distribution:
# [(file, what all names begin with, {"kind, kind": "name:line ..."})]}. A definition and a kernel
# are where the word that registers them is, a shape function, a gradient and an announced function
# where the function is defined, or else named; `autograd` is a class, `backward` its function.
# `kernel ?` has a key that only the running code knows. Where the build picks the namespace, names
# have none. What one file defines in two branches counts once as an operator.
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
            "csrc/rocm/torch_bindings.cpp",
            "",
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
            "",
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
            "",
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
}
