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
            "jax-derivatives": "operators=2",
            "device": "launches=32 arch_tests=2",
        },
        [
            (
                "error jvp-arity brainevent/_fcn/binary.py:1201",
                "rules for four inputs, of which its calls pass three",
            ),
            (
                "warning launch-unchecked brainevent/_csr/csr_to_csc.cu:150",
                "no read of the error in the function, others of the project have one",
            ),
            (
                "warning launch-unchecked brainevent/_csr/csr_to_csc.cu:188",
                "no read of the error in the function, others of the project have one",
            ),
            (
                "warning launch-unchecked brainevent/pararnn/_fused_gru_diag.cu:492",
                "no read of the error in the function, others of the project have one",
            ),
            (
                "warning launch-unchecked brainevent/pararnn/_fused_gru_diag.cu:522",
                "no read of the error in the function, others of the project have one",
            ),
            (
                "warning launch-unchecked brainevent/pararnn/_fused_gru_diag.cu:549",
                "no read of the error in the function, others of the project have one",
            ),
            (
                "warning launch-unchecked brainevent/pararnn/_fused_gru_diag.cu:580",
                "no read of the error in the function, others of the project have one",
            ),
            (
                "warning launch-unchecked brainevent/pararnn/_fused_lstm_cifg_diag.cu:723",
                "no read of the error in the function, others of the project have one",
            ),
            (
                "warning launch-unchecked brainevent/pararnn/_fused_lstm_cifg_diag.cu:755",
                "no read of the error in the function, others of the project have one",
            ),
            (
                "warning launch-unchecked brainevent/pararnn/_fused_lstm_cifg_diag.cu:781",
                "no read of the error in the function, others of the project have one",
            ),
            (
                "warning launch-unchecked brainevent/pararnn/_fused_lstm_cifg_diag.cu:812",
                "no read of the error in the function, others of the project have one",
            ),
        ],
    ),
    Package(
        "brainevent==0.2.0",
        "a2963525ff49c85c7ea93af7b6e46ba7f2f3118d03aa2470af063964149ef40e",
        {
            "brainevent": "operators=51 annotations=595 kernels=181",
            "engine": "registrars=1",
            "device": "launches=82 arch_tests=2",
        },
        [
            (
                "warning launch-unchecked brainevent/_csr/csr_to_csc.cu:150",
                "no read of the error in the function, others of the project have one",
            ),
            (
                "warning launch-unchecked brainevent/_csr/csr_to_csc.cu:188",
                "no read of the error in the function, others of the project have one",
            ),
        ],
    ),
    Package(
        "brainevent==0.3.0",
        "35b18b7b44380268dba9ebceff7f002523ad80aeda1ff6cc5e4a253abc28a1a2",
        {
            "brainevent": "operators=59 annotations=732 kernels=221",
            "engine": "registrars=1",
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
                "warning launch-unchecked brainevent/_csr/csr_to_csc.cu:150",
                "no read of the error in the function, others of the project have one",
            ),
            (
                "warning launch-unchecked brainevent/_csr/csr_to_csc.cu:188",
                "no read of the error in the function, others of the project have one",
            ),
            (
                "warning launch-unchecked brainevent/_tcsr/csr_to_csc.cu:150",
                "no read of the error in the function, others of the project have one",
            ),
            (
                "warning launch-unchecked brainevent/_tcsr/csr_to_csc.cu:188",
                "no read of the error in the function, others of the project have one",
            ),
        ],
    ),
    Package(
        "deepspeed==0.19.8",
        "9e491abd0827ea5c389dd702e15e11e13d83d904bac4a20d6c2a4cb37207a9af",
        {
            "torch": "operators=27 dispatch=73 kernels=105 abstract=7",
            "torch-autograd": "operators=45",
            "triton": "functions=30 uses=30",
            "functions": "functions=416",
            "engine": "dispatch=5 registrars=4",
            "device": "launches=161 arch_tests=16",
        },
        [
            ("error host-arch-guard csrc/aio/py_lib/deepspeed_cpu_op.cpp:93", "no device compiler reads it"),
            ("error host-arch-guard deepspeed/ops/csrc/aio/py_lib/deepspeed_cpu_op.cpp:93", "its copy"),
            (
                "warning returns-alias csrc/compile/z3.cpp:665",
                "`test_call` returns its argument",
            ),
            (
                "warning fake-missing csrc/compile/init.cpp:29",
                "an operator for tests, the only one of its kind without a Meta kernel",
            ),
            (
                "warning gradient-signature deepspeed/module_inject/layers.py:210",
                "`symbolic` takes the graph and one of the three that `forward` is given",
            ),
            (
                "warning gradient-signature deepspeed/module_inject/layers.py:293",
                "`symbolic` takes the graph and one of the two that `forward` is given",
            ),
        ],
    ),
    Package(
        "llama-cpp-python==0.3.36",
        "832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e",
        {"ggml": "dispatch=27", "device": "launches=186 arch_tests=24"},
        folders=("vendor/llama.cpp/ggml",),
    ),
    Package(
        "mamba-ssm==2.3.2.post1",
        "104cc47e9101e5401a675fa2b784f2952b9b037f3b1dd83b5ac544394e95d028",
        {
            "torch-autograd": "operators=17",
            "triton": "functions=47 uses=47",
            "functions": "functions=2 uses=4",
            "engine": "dispatch=6",
            "device": "launches=2",
        },
    ),
    Package(
        "onnx==1.23.2",
        "008cb0467b2bbee41448acc7da8b6f4e704624cb0d327a2d5adafc7ce19bc5b8",
        {"functions": "functions=35 uses=38"},
        folders=("onnx",),
    ),
    Package(
        "tilelang==0.1.14",
        "7ae0fba6c63dae80b3c9c5c11a70bb8d7165794994f290f36e2fe87bfb143cfc",
        {
            "triton": "functions=4 uses=4",
            "tvm-ffi": "operators=225 dispatch=7",
            "functions": "functions=4",
            "ctypes": "functions=1 uses=2",
            "engine": "dispatch=7 registrars=2",
            "device": "launches=3 arch_tests=19",
        },
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
            # No look-up: the package puts functions of its own under these names.
            "torch": "operators=16 kernels=16",
            "torch-autograd": "operators=15",
            "device": "launches=16",
        },
        [
            (
                "warning launch-unchecked csrc/cuda/scatter_cuda.cu:122",
                "no read of the error in the tree",
            ),
        ],
    ),
    Package(
        "transformer-engine-torch==2.20.2",
        "4c40ced8a6261649e689076f198d4feaf02277b1ba18931a66eccdaceb33c43e",
        {"functions": "functions=179", "device": "launches=74 arch_tests=114"},
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
            (
                "warning launch-unchecked common_headers/common/util/standalone_topk.cuh:1216",
                "none of its kind in the function, others of the project have one",
            ),
        ],
    ),
    Package(
        "vllm==0.33.0",
        "f4c33c2503d52bb411146afa9618a4f48bed68912f617e6803ac8d76e4c74112",
        {
            "torch": "operators=490 dispatch=311 kernels=497 abstract=180",
            "torch-autograd": "operators=1",
            "triton": "functions=478 uses=495",
            "functions": "functions=9 uses=2",
            "engine": "dispatch=36 registrations=29",
            "device": "launches=271 arch_tests=150",
        },
        [
            (
                "error fake-signature vllm/_custom_ops.py:2559",
                "three tuning arguments of the operator are missing",
            ),
            (
                "error argument-order vllm/model_executor/kernels/linear/mxfp4/aiter.py:136",
                "its last three parameters stand in another order than those of the function",
            ),
            (
                "error mutation-unmarked csrc/cpu/torch_bindings.cpp:705",
                "the kernel writes its partial sums to `attn_logits`",
            ),
            (
                "warning fake-choice-unread vllm/model_executor/layers/fused_moe/fused_flydsl_moe.py:309",
                "the kernel's dtype is that of `out_dtype`, the shape function's that of its input",
            ),
            (
                "warning returns-alias csrc/moe/moe_ops.h:72",
                "moe_wna16_gemm returns `output`, which its schema says it writes to",
            ),
            (
                "warning device-unset vllm/models/deepseek_v41/amd/ops/topk512_gfx942.cu:1454",
                "has no guard, unlike the other six of the file",
            ),
            (
                "warning launch-unchecked csrc/activation_kernels.cu:302",
                "three quarters of the launches of the project",
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
                "warning launch-unchecked warp/native/mesh.cu:50",
                "its macro reads the error in debug builds alone",
            ),
            (
                "warning launch-unchecked warp/native/volume.cu:31",
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
            "torch-autograd": "operators=13",
            "triton": "functions=9 uses=9",
            "device": "launches=7",
        },
        [
            (
                "error namespace-wrong xformers/ops/fmha/__init__.py:325",
                "a namespace without its last letter, though its users spell it so, too",
            ),
            (
                "warning launch-unchecked xformers/csrc/sparse24/sparse24_largest_mask_2d.cu:212",
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
