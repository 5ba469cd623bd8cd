"""Exports from torch's dispatcher, and from packages on it, against figures that were counted by
another walk.

Usage and needs: see live_support.py. All packages lie in one environment (the build of torch for
CUDA is large), where stand-ins replace the CUDA libraries: see stand_in_libraries.py.
"""

import json
import pathlib
import subprocess
import sys

import live_support
import stand_in_libraries
from live_support import Case, count

# With nothing that these ask for besides: the CUDA libraries alone are larger than torch.
PINS = {
    "torch": "2.15.0",
    "typing_extensions": "4.16.0",
    "torchvision": "0.29.2",
    "torchaudio": "2.11.1",
    "torchao": "0.18.0",
    "bitsandbytes": "0.50.2",
    "xformers": "0.0.35",
    "torchcodec": "0.17.0",
    "numpy": "2.4.6",
    "pillow": "13.0.0",
    "packaging": "26.4",
    "sympy": "1.14.0",
    "mpmath": "1.4.1",
    "networkx": "3.6.1",
    "jinja2": "3.1.6",
    "markupsafe": "3.0.4",
    "fsspec": "2026.9.0",
    "filelock": "4.3.1",
    "pyyaml": "6.0.4",
}


def put_stand_ins(python):
    """Needs: the CUDA libraries are not installed."""
    script = "import importlib.util; print(importlib.util.find_spec('torch').origin)"
    done = subprocess.run([str(python), "-c", script], capture_output=True, text=True, check=True)
    libraries = pathlib.Path(done.stdout.strip()).parent / "lib"
    made = libraries.parent.parent / "nvidia" / "stand-ins"
    if not made.is_file():
        stand_in_libraries.make(libraries)
        made.write_text("tests/stand_in_libraries.py")


def case(package, figures, findings, modules=()):
    return Case(
        "torch",
        "{}-{}".format(package, PINS[package]),
        PINS,
        figures,
        findings,
        arguments=[flag for module in modules for flag in ("--import", module)],
        environment="torch-{}".format(PINS["torch"]),
        alone=True,
        prepare=put_stand_ins,
    )


def package_case(package, operators, kernels, findings=None, module=None, **more):
    figures = {"operators": operators, "kernels": kernels, **more}
    return case(package, figures, findings or {}, [module or package])


CASES = (
    case(
        "torch",
        {
            "operators": 3623,
            "kernels": 18199,
            "fallthrough": 234,
            "shadowed": 648,
            "dangling": 0,
            "kernels by key": {
                "Tracer": 3110,
                "Autograd": 2507,
                "Meta": 1643,
                "CUDA": 1345,
                "Functionalize": 1338,
                "CompositeExplicitAutograd": 1231,
                "CPU": 1186,
                "ADInplaceOrView": 1106,
                "CompositeImplicitAutograd": 788,
                "FuncTorchBatched": 614,
                "CompositeExplicitAutogradNonFunctional": 447,
            },
            "operators by namespace": {
                "aten": 3120,
                "quantized": 174,
                "prims": 126,
                "symm_mem": 39,
                "_quantized": 23,
                "c10d": 22,
                "static_runtime": 21,
                "onednn": 21,
                "_c10d_functional": 18,
                "mkldnn": 16,
            },
            "states platforms": False,
        },
        # `torch.ops.prims.var(x, [0])` raises a TypeError, as does `rngprims::philox_rand`.
        {"warning": {"fake-default-missing": 2}},
    ),
    package_case(
        "torchvision",
        28,
        73,
        {"warning": {"fake-missing": 1}},
        **{"operators by namespace": {"torchvision": 15, "image": 13}}
    ),
    package_case("torchaudio", 6, 10),
    # `swizzle_scaled_mm` without a bias, on meta tensors.
    package_case("torchao", 22, 28, {"warning": {"fake-default-missing": 1}}, dangling=4),
    package_case("bitsandbytes", 19, 38),
    package_case(
        "xformers", 13, 40, {"error": {"namespace-wrong": 1}}, module="xformers.ops", shadowed=2
    ),
    package_case("torchcodec", 11, 11),
)

# Registered only where the processor has AVX-512, and then with bfloat16.
BY_PROCESSOR = {("bitsandbytes::int8_linear_matmul", "CPU"), ("bitsandbytes::gemv_4bit", "CPU")}
# What fewer kernels or operators have than this is left out of the figures by key or namespace.
FEW_KERNELS, FEW_OPERATORS = 447, 13


def rows_of(operator):
    return [
        kernel
        for kernel in operator["kernels"]
        if (operator["name"], kernel["platform"]) not in BY_PROCESSOR
    ]


def figures_of(manifest):
    operators = manifest["operators"]
    rows = [row for operator in operators for row in rows_of(operator)]
    active = [row for row in rows if row.get("active", True)]
    kernels = [row for row in active if not row.get("fallthrough")]
    namespaces = count(operator["namespace"] for operator in operators)
    keys = count(row["platform"] for row in active)
    return {
        "operators": len(operators),
        "kernels": len(kernels),
        "fallthrough": len(active) - len(kernels),
        "shadowed": len(rows) - len(active),
        "dangling": sum("schema" not in operator for operator in operators),
        "kernels by key": {key: number for key, number in keys.items() if number >= FEW_KERNELS},
        "operators by namespace": {
            name: number for name, number in namespaces.items() if number >= FEW_OPERATORS
        },
        "states platforms": "platforms" in manifest,
    }


def comparable(manifest):
    """Operators by name, with what both walks look at.

    The recordings leave out the places of torch's own kernels and name some wrappers of torch's
    instead of the function of the user; they say `optional` of a list whose elements may be absent,
    and give counts for a schema with `...`, which has none. Of what Python defines they have the
    line of the `Library`, and they miss the fakes that torch makes of what only writes arguments.
    """
    return {operator["name"]: comparable_operator(operator) for operator in manifest["operators"]}


def comparable_operator(operator):
    schema = operator.get("schema", "")
    kept = {key: operator.get(key) for key in ("namespace", "schema", "tags")}
    if "..." not in schema:
        kept.update({key: operator.get(key) for key in ("inputs", "outputs", "attributes")})
    for operand in kept.get("inputs") or []:
        if "?[" in operand.get("type", ""):
            operand.pop("optional", None)
    place = operator.get("location", {})
    if not place.get("file", ".py").endswith(".py"):
        kept["file"] = place["file"].rpartition("/")[2]
        kept["line"] = place["line"]
    if "!" not in schema or not schema.endswith("-> ()"):
        kept["abstract"] = is_there(operator, "abstract")
    kept["gradient"] = is_there(operator, "gradient")
    kept["kernels"] = sorted(
        [row["platform"], row.get("fallthrough", False)]
        for row in rows_of(operator)
        if row.get("active", True)
    )
    return json.loads(json.dumps(kept))


def is_there(operator, key):
    if key not in operator:
        return "not said"
    return "absent" if operator[key] is None else "there"


if __name__ == "__main__":
    sys.exit(live_support.main(__doc__.splitlines()[0], CASES, figures_of, comparable))
