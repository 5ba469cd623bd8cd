"""Log of brainevent's registrations in their order. Its table keeps only the survivor of two that
share a name, and its source also holds calls that never run.
"""

import ast
import contextlib
import functools
import inspect
import sys

from _opseal_common import loaded_modules, packages_of
from _opseal_functions import location, parameters_of
from _opseal_sources import last_name, source_modules

REGISTRY = "brainevent._registry"
REGISTER = "register_primitive"
CONSTRUCTOR = "XLACustomKernel"


class RegistrationLog:
    """Waits for the registry's module: the package imports it before anything registers, and takes
    the function out of it by name."""

    def __init__(self):
        self.entries = []
        self.register = self.replacement = None

    @contextlib.contextmanager
    def listening(self, request):
        """Needs: brainevent is not imported yet; else nothing is logged."""
        sys.meta_path.insert(0, self)
        try:
            yield
        finally:
            sys.meta_path.remove(self)
            self.restore(packages_of(request, "brainevent"))

    def find_spec(self, name, path=None, target=None):
        if name != REGISTRY:
            return None
        others = [finder for finder in sys.meta_path if finder is not self]
        specs = (finder.find_spec(name, path, target) for finder in others)
        spec = next((spec for spec in specs if spec is not None), None)
        if spec is not None and spec.loader is not None:
            self.wait_for(spec.loader)
        return spec

    def wait_for(self, loader):
        """The module keeps its own loader, so to the package nothing looks different."""
        execute = loader.exec_module

        def exec_module(module):
            del loader.exec_module
            execute(module)
            self.replace(module)

        with contextlib.suppress(AttributeError):  # a loader without attributes of its own
            loader.exec_module = exec_module

    def replace(self, module):
        register = getattr(module, REGISTER, None)
        if len(parameters_of(register) or []) == 2:
            self.register, self.replacement = register, self.logged(register)
            setattr(module, REGISTER, self.replacement)

    def logged(self, register):
        signature = inspect.signature(register)

        @functools.wraps(register)
        def register_primitive(*positional, **named):
            result = register(*positional, **named)
            bound = signature.bind(*positional, **named)
            bound.apply_defaults()
            name, operator = bound.arguments.values()
            self.entries.append(entry(name, registering_place(sys._getframe(1), operator)))
            return result

        return register_primitive

    def restore(self, packages):
        if self.replacement is None:
            return
        for _, module in loaded_modules(*packages):
            for attribute, value in list(vars(module).items()):
                if value is self.replacement:
                    setattr(module, attribute, self.register)

    def registrations(self, request, kernels, packages):
        """(entries as far as they are known, are they all?).

        What the table holds and nobody logged is looked for in the source. A name at two places
        there may be one in two branches, so then nobody can say."""
        logged = {each["name"] for each in self.entries}
        silent = set(kernels) - logged
        found = source_registrations(request, packages) if silent else []
        found = [each for each in found if each["name"] in silent]
        if len({each["name"] for each in found}) == len(found):
            return self.entries + found, True
        request.remark(
            "an operator is registered at two places of the source and nobody saw which one ran,"
            " so `registrations` is not said"
        )
        return self.entries + found, False


def registering_place(frame, operator):
    """Methods of the operator itself, its constructor above all, only pass it on."""
    while frame is not None and first_argument(frame) is operator:
        frame = frame.f_back
    return location(frame.f_code.co_filename, frame.f_lineno) if frame is not None else None


def first_argument(frame):
    code = frame.f_code
    return frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None


def entry(name, place):
    described = {"name": str(name)}
    if place:
        described["location"] = place
    return described


def source_registrations(request, packages):
    found = []
    for _, tree, file in source_modules(packages):
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and last_name(call.func) == CONSTRUCTOR and call.args:
                found += source_registration(request, call, file)
    return found


def source_registration(request, call, file):
    name = call.args[0]
    if not isinstance(name, ast.Constant) or not isinstance(name.value, str):
        request.remark(
            "an operator name that is computed keeps its registration out of `registrations`"
        )
        return []
    return [entry(name.value, location(file, call.lineno))]
