"""Exports from ONNX Runtime, tvm-ffi and ExecuTorch, pinned, against figures that were counted by
hand.

Usage and needs: see live_support.py. A build for GPUs imports on any machine with the stand-ins of
`stand_in_libraries.py`, and ExecuTorch with those of torch.
"""

import json
import os
import pathlib
import sys
import tempfile

import live_support
from live_support import Case, count

ONNX = "1.23.2"
# The stand-ins for a build of ONNX Runtime lie outside of its environment.
STAND_INS = pathlib.Path(tempfile.gettempdir()) / "opseal-onnxruntime-stand-ins"


def onnxruntime(package, version, figures, findings, **more):
    return Case(
        "onnxruntime",
        "{}-{}".format(package, version),
        {package: version, "onnx": ONNX},
        figures,
        findings,
        **more
    )


def put_stand_ins(python):
    import stand_in_libraries

    folder = python.parent.parent / "lib"
    libraries = next(folder.glob("python3*/site-packages/onnxruntime/capi"))
    STAND_INS.mkdir(exist_ok=True)
    # Success for whatever is called: an error here is formatted with a text that nobody has.
    stand_in_libraries.make(libraries, STAND_INS, returns=0)


def put_torch_stand_ins(python):
    import stand_in_libraries

    stand_in_libraries.make(
        next((python.parent.parent / "lib").glob("python3*/site-packages/torch/lib"))
    )


def name_library(python):
    """The library lies in the environment, which is only known once that is there."""
    folder = python.parent.parent / "lib"
    library = next(folder.glob("python3*/site-packages/onnxruntime_extensions/*.so"))
    WITH_EXTENSIONS.arguments = ["--custom-op", str(library)]


WITH_EXTENSIONS = Case(
    "onnxruntime",
    "onnxruntime-extensions-0.15.2",
    {"onnxruntime": "1.32.0", "onnxruntime-extensions": "0.15.2"},
    {
        "operators": 947,
        "custom": {"ai.onnx.contrib": 45, "com.microsoft.extensions": 19},
        "typed inputs": 125,
        "remarks": ["`onnx.defs` cannot be imported, so `function_body` is not said"],
    },
    {"warning": {"version-behind": 16}},
    prepare=name_library,
)

CASES = (
    WITH_EXTENSIONS,
    onnxruntime(
        "onnxruntime",
        "1.32.0",
        {
            "operators": 883,
            "names": 415,
            "kernels": {"CPUExecutionProvider": 1517},
            "open kernels": 726,
            "function bodies": 75,
            "deprecated": 13,
            "remarks": [],
        },
        {"error": {"version-behind": 13}, "note": {"version-behind": 3}},
    ),
    onnxruntime(
        "onnxruntime-gpu",
        "1.31.1",
        {
            "operators": 847,
            "names": 400,
            "kernels": {
                "CPUExecutionProvider": 1465,
                "CUDAExecutionProvider": 1565,
                "TensorrtExecutionProvider": 2,
            },
            "function bodies": 68,
            "deprecated": 13,
            "remarks": [],
        },
        {
            "error": {"version-behind": 12},
            "warning": {"dtype-grid-hole": 1},
            "note": {"version-behind": 3},
        },
        prepare=put_stand_ins,
        variables={**os.environ, "LD_LIBRARY_PATH": str(STAND_INS)},
    ),
    Case(
        "tvm-ffi",
        "apache-tvm-ffi-0.1.15.post2",
        {"apache-tvm-ffi": "0.1.15.post2"},
        {
            "operators": 159,
            "namespaces": {
                "ffi": 96,
                "ffi.json": 2,
                "ffi.Module.load_from_file": 1,
                "ffi.VisitErrorContext": 1,
                "testing": 59,
            },
            "kernels": {},
            "counted": 148,
            "schemas": 159,
            "remarks": [],
        },
        {},
    ),
    Case(
        "executorch",
        "executorch-1.5.1",
        {
            "executorch": "1.5.1",
            "torch": "2.15.0",
            "torchao": "0.18.0",
            # What those import, and what reads the data files.
            "typing_extensions": "4.16.0",
            "numpy": "2.4.6",
            "sympy": "1.14.0",
            "mpmath": "1.4.1",
            "networkx": "3.6.1",
            "Jinja2": "3.1.6",
            "MarkupSafe": "3.0.4",
            "filelock": "4.3.1",
            "flatbuffers": "25.12.19",
            "ruamel.yaml": "0.19.1",
            "tabulate": "0.10.0",
            "PyYAML": "6.0.4",
        },
        {
            "operators": 286,
            "kernels": {"CPU": 286},
            "witnesses": {"declared": 44, "declared registered": 211, "registered": 31},
            "sources": {"portable-cpu": 213, "quantized-cpu": 19, "cortex-m": 23, None: 31},
            "edge": 129,
            "remarks": [],
        },
        {},
        alone=True,
        prepare=put_torch_stand_ins,
    ),
)


def figures_of(manifest):
    operators = manifest["operators"]
    kernels = [kernel for operator in operators for kernel in operator["kernels"]]
    custom = [operator for operator in operators if operator.get("defined_in") == "native"]
    return {
        "operators": len(operators),
        "custom": count(operator["namespace"] for operator in custom),
        "typed inputs": sum("type" in each for operator in custom for each in operator["inputs"]),
        "names": len({(operator["namespace"], operator["name"]) for operator in operators}),
        "namespaces": count(operator["namespace"] for operator in operators),
        "kernels": count(kernel["platform"] for kernel in kernels),
        "open kernels": sum(
            kernel.get("versions", {}).get("until", 0) is None for kernel in kernels
        ),
        "witnesses": count(" ".join(kernel.get("witnesses", ())) for kernel in kernels),
        "sources": count(kernel.get("source") for kernel in kernels),
        "function bodies": sum(operator.get("function_body", False) for operator in operators),
        "deprecated": sum(operator.get("deprecated", False) for operator in operators),
        "counted": sum("inputs" in operator for operator in operators),
        "schemas": sum("schema" in operator for operator in operators),
        "edge": sum("x-edge" in operator for operator in operators),
        "remarks": manifest.get("remarks", []),
    }


def text(value):
    return json.dumps(value, sort_keys=True)


def comparable(manifest):
    """Without what may differ: who exported, the order of tables, and what older recordings say
    otherwise.

    They named the module instead of the package, remarked on the stand-ins, left out a function
    body that is not there, took a kernel that only the runtime knows for declared, and had the
    dtypes of ExecuTorch's edge dialect in one key, also where they are those of another overload.
    """
    manifest.pop("remarks", None)
    producer = manifest["producer"]
    for key in ("version", "python", "packages"):
        producer.pop(key, None)
    for operator in manifest["operators"]:
        if operator.get("function_body") is False:
            del operator["function_body"]
        if manifest["system"] == "executorch":
            operator.pop("x-edge", None)
            operator.pop("type_constraints", None)
        for kernel in operator["kernels"]:
            if manifest["system"] == "executorch" and "symbol" not in kernel:
                kernel["witnesses"] = ["registered"]
        operator["kernels"].sort(key=text)
    manifest["operators"].sort(
        key=lambda each: text([each[key] for key in ("namespace", "name")] + [order_of(each)])
    )
    return manifest


def order_of(operator):
    return [operator.get("versions", {}).get("since"), operator.get("location")]


def main():
    return live_support.main(__doc__, CASES, figures_of, comparable)


if __name__ == "__main__":
    sys.exit(main())
