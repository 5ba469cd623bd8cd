"""Log of the FFI targets that are handed to jaxlib. They go through one function and into no table
that Python could read later.
"""

import contextlib
import ctypes
import enum
import inspect
import os
import sys

from _opseal_common import optional_module, read
from _opseal_functions import location, parameters_of, relative_file

# Frames of these files only pass a target on; the line that registers it is further out.
PASSED_ON_BY = ("/jax/_src/ffi.py", "/jaxlib/xla_client.py")


UNTYPED, TYPED = 0, 1

# Platform of each live table -> the spellings under which targets get into it.
TABLES = {"cpu": ("cpu", "Host"), "CUDA": ("CUDA", "cuda", "gpu")}


class FfiLog:
    def __init__(self):
        self.entries = None  # None: nobody listened, so targets are not said
        self.packages = set()  # top-level packages of the modules that the user named

    @contextlib.contextmanager
    def listening(self, request):
        """Needs: jax is not imported yet, for most targets are registered while it is."""
        register = read(request, "jaxlib.xla_client", "register_custom_call_target", "`targets`")
        if parameters_of(register) is None:
            yield
            return
        self.entries = []
        self.packages = {name.split(".")[0] for name in request.modules}
        client = optional_module("jaxlib.xla_client")
        client.register_custom_call_target = self.logged(register)
        try:
            yield
        finally:
            client.register_custom_call_target = register

    def logged(self, register):
        signature = inspect.signature(register)

        def register_custom_call_target(*positional, **named):
            try:
                bound = signature.bind(*positional, **named)
            except TypeError:  # the real function says better what is wrong
                return register(*positional, **named)
            bound.apply_defaults()
            place = caller_location(sys._getframe(1), self.packages)
            self.entries.append((dict(bound.arguments), place))
            return register(*positional, **named)

        return register_custom_call_target

    def targets(self, keep=lambda target: True):
        if self.entries is None:
            return None
        described = [describe_target(arguments, place) for arguments, place in self.entries]
        described += silent_targets(described)
        return [target for target in described if keep(target)]


def caller_location(frame, packages):
    """The code that registered. Where a module that the user named asked for it, the line of that
    module: a library that registers for others does so from one line for all of them."""
    while frame is not None and frame.f_code.co_filename.endswith(PASSED_ON_BY):
        frame = frame.f_back
    asking = frame
    while asking is not None:
        if str(asking.f_globals.get("__name__")).split(".")[0] in packages:
            frame = asking
            break
        asking = asking.f_back
    return location(frame.f_code.co_filename, frame.f_lineno) if frame is not None else None


def describe_target(arguments, place=None):
    handlers = arguments.get("fn")
    stages = handlers if isinstance(handlers, dict) else {"execute": handlers}
    name = arguments["name"]
    target = {"name": name.decode("utf-8", "replace") if isinstance(name, bytes) else name}
    if "platform" in arguments:
        target["platform"] = arguments["platform"]
    # A function that cannot be told the interface comes from a time when there was one only.
    target["api_version"] = arguments.get("api_version", UNTYPED)
    traits = names_of_traits(arguments.get("traits"))
    if traits:
        target["traits"] = traits
    target["stages"] = sorted(stages)
    target.update(library_and_symbol(address_in(stages.get("execute"))))
    if place:
        target["location"] = place
    return target


def names_of_traits(traits):
    """The names of the bits in a flag; the default has none."""
    if not isinstance(traits, enum.Flag):
        return []
    return sorted(each.name for each in type(traits) if each.value and each in traits)


def silent_targets(described):
    """Targets in the live table that nobody handed over: a library can register them from C++ while
    it is loaded. jaxlib's own come so too, and are left out; so are untyped ones, among which are
    the functions of the mathematics library."""
    table_of = getattr(optional_module("jaxlib.xla_client"), "custom_call_targets", None)
    if table_of is None:
        return []
    found = []
    for platform, spellings in TABLES.items():
        known = {each["name"] for each in described if each.get("platform") in spellings}
        for name, handlers in sorted(table_of(platform).items()):
            if name in known or not isinstance(handlers, dict):
                continue
            target = describe_target(
                {"name": name, "platform": platform, "api_version": TYPED, "fn": handlers}
            )
            if not target.get("library", "").startswith("jaxlib/"):
                found.append(target)
    return found


class LoadedSymbol(ctypes.Structure):
    """Dl_info of dlfcn.h."""

    _fields_ = [
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    ]


def address_in(capsule):
    """The address that a PyCapsule holds, or None."""
    if capsule is None:
        return None
    name_of, pointer_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    try:
        return pointer_of(capsule, name_of(capsule))
    except ValueError:  # not a capsule
        return None


def library_and_symbol(address):
    """Where an address of this process lies. dladdr names the nearest exported symbol, so only an
    exact one is believed."""
    found = LoadedSymbol()
    lookup = getattr(ctypes.CDLL(None), "dladdr", None)
    if (
        address is None
        or lookup is None
        or not lookup(ctypes.c_void_p(address), ctypes.byref(found))
    ):
        return {}
    facts = {
        "library": relative_file(os.fsdecode(found.file)) if found.file else None,
        "symbol": found.name.decode() if found.name and found.address == address else None,
    }
    return {key: value for key, value in facts.items() if value}
