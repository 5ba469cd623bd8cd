"""The yaml files in the executorch package: which kernels exist, and which dtypes an operator of
the edge dialect may have.
"""

import os

from _opseal_common import optional_module
from _opseal_functions import location

# File -> `source` of its kernels. Files of other hardware (cadence, vulkan) declare kernels that
# are not in this package.
KERNEL_FILES = {
    "kernels/portable/functions.yaml": "portable-cpu",
    "kernels/portable/custom_ops.yaml": "portable-cpu",
    "kernels/portable/et_copy_ops.yaml": "portable-cpu",
    "kernels/quantized/quantized.yaml": "quantized-cpu",
    "backends/cortex_m/ops/operators.yaml": "cortex-m",
}
EDGE_FILE = "exir/dialects/edge/edge.yaml"


def declared_operators(request, folder, platform):
    yaml = optional_module("yaml")
    if yaml is None:
        request.remark("`yaml` cannot be imported, so what the data files declare is not said")
        return []
    edge = edge_dtypes(read_items(request, yaml, folder, EDGE_FILE))
    return [
        describe(entry, line, os.path.join(folder, file), platform, source, edge)
        for file, source in KERNEL_FILES.items()
        for entry, line in read_items(request, yaml, folder, file)
    ]


def read_items(request, yaml, folder, file):
    """[(entry, its line)] of a file that is a list of entries."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        with open(os.path.join(folder, file), encoding="utf-8") as stream:
            text = stream.read()
        entries, tree = yaml.load(text, loader), yaml.compose(text, loader)
    except (OSError, ValueError, yaml.YAMLError) as error:
        request.remark("`{}` cannot be read ({})".format(file, type(error).__name__))
        return []
    if not isinstance(entries, list):
        request.remark("`{}` is no list of operators".format(file))
        return []
    lines = [node.start_mark.line + 1 for node in tree.value]
    items = [pair for pair in zip(entries, lines) if is_entry(pair[0])]
    if len(items) < len(entries):
        request.remark("`{}` has entries of another form, which are not said".format(file))
    return items


def is_entry(entry):
    """An operator with the symbols of its kernels, or an operator of the edge dialect."""
    if not isinstance(entry, dict):
        return False
    named = entry.get("func", entry.get("op", entry.get("inherits")))
    kernels = entry.get("kernels") or []
    return (
        isinstance(named, str)
        and isinstance(kernels, list)
        and all(isinstance(kernel, dict) and "kernel_name" in kernel for kernel in kernels)
    )


def edge_dtypes(items):
    """{operator: facts}. The entries are named after the functional form of an operator."""
    return {
        entry["inherits"]: {
            "type_constraints": entry.get("type_alias") or {},
            # Which type variables stand for which arguments, one combination each.
            "x-edge": entry.get("type_constraint") or [],
        }
        for entry, _ in items
        if "inherits" in entry
    }


def describe(entry, line, path, platform, source, edge):
    schema = entry.get("func")
    name = qualified(entry["op"] if schema is None else schema.split("(")[0].strip())
    operator = {
        "name": name,
        "namespace": name.rpartition("::")[0],
        "location": location(path, line),
    }
    if schema is not None:
        operator["schema"] = qualified(schema)
    operator.update(edge.get(functional_form(name), {}))
    operator["kernels"] = [
        describe_kernel(kernel, platform, source) for kernel in entry.get("kernels") or ()
    ]
    return operator


def qualified(text):
    """A name or schema; without a namespace it means ATen's."""
    return text if "::" in text.split("(")[0] else "aten::" + text


def functional_form(name):
    """`aten::sum.IntList_out` computes `aten::sum.IntList`, and `aten::cos.out` computes
    `aten::cos`."""
    for suffix in ("_out", ".out"):
        if name.endswith(suffix):
            return name[: -len(suffix)]
    return name


def describe_kernel(kernel, platform, source):
    row = {
        "platform": platform,
        "symbol": kernel["kernel_name"],
        "source": source,
        "witnesses": ["declared"],
    }
    # Which dtypes and dimension orders a kernel is for. `null` in the file: all of them.
    if kernel.get("arg_meta"):
        row["x-arg-meta"] = kernel["arg_meta"]
    return row
