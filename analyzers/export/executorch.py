"""ExecuTorch: kernels that the package's data files declare, and operators that its runtime has.

The data files are yaml, read with what the target environment has for it. Importing the runtime
takes torch with it, so that happens in a fork: what the files say survives its failure.
"""

import importlib
import importlib.util

from _opseal_common import (
    ExportError,
    import_extra,
    new_manifest,
    packages_of,
    require_installed,
)
from _opseal_executorch_files import declared_operators
from _opseal_forked import ForkFailed, call_in_fork

PACKAGE = "executorch"
RUNTIME = "executorch.extension.pybindings.portable_lib"
# The runtime of the package is built for the processor alone; other hardware comes as a backend
# that takes whole subgraphs.
PLATFORM = "CPU"


def export(request):
    require_installed(PACKAGE)
    import_extra(request)
    folder = package_folder()
    operators = declared_operators(request, folder, PLATFORM)
    names, backends = runtime_facts(request)
    if names is not None:
        add_registered(operators, names)
    return new_manifest(
        request,
        [PACKAGE, "torch"] + packages_of(request),
        platforms=[PLATFORM],
        operators=sorted(operators, key=lambda each: (each["name"], place_of(each))),
        **{"x-backends": backends}
    )


def package_folder():
    specification = importlib.util.find_spec(PACKAGE)
    folders = list(specification.submodule_search_locations or ())
    if not folders:
        raise ExportError("`{}` is one module, expected a package".format(PACKAGE))
    return folders[0]


def place_of(operator):
    place = operator.get("location", {"file": "", "line": 0})
    return place["file"], place["line"]


def runtime_facts(request):
    """(names of the registered operators, names of the backends); None for what is not known."""
    try:
        return call_in_fork(ask_runtime)
    except ForkFailed as reason:
        request.remark(
            "`{}` failed, so what is registered is not said: {}".format(RUNTIME, reason)
        )
        return None, None


def ask_runtime():
    runtime = importlib.import_module(RUNTIME)
    names = runtime._get_operator_names()
    ask_backends = getattr(runtime, "_get_registered_backend_names", None)
    return sorted(set(names)), sorted(ask_backends()) if ask_backends else None


def add_registered(operators, names):
    """Notes who is seen where. A declared operator may belong to a library of its own, which the
    runtime has only once it is loaded."""
    for operator in operators:
        if operator["name"] in names:
            for kernel in operator["kernels"]:
                kernel["witnesses"].append("registered")
    declared = {operator["name"] for operator in operators}
    for name in names:
        if name not in declared:
            operators.append(
                {
                    "name": name,
                    "namespace": name.rpartition("::")[0],
                    "kernels": [{"platform": PLATFORM, "witnesses": ["registered"]}],
                }
            )
