"""A child of `opseal probe` for handlers that a module hands out: `python -B -c THIS DESCRIPTOR
MODULE...`, where the descriptor is of a file in memory that holds opseal's own library.

Imports the modules and hands the library what they hand out; the library shuts the process in and
answers questions from standard input, as every child does. This text is all of opseal that runs as
Python, and it stands alone.
"""

import ctypes
import os
import sys

ANSWER_DESCRIPTOR = 3
# The name that XLA's clients look for. Others give none, and dictionaries that a function of this
# purpose returns may hold whatever they like.
TARGET_NAME = b"xla._CUSTOM_CALL_TARGET"
STAGES = ("instantiate", "prepare", "initialize", "execute", "record")
HOST = ("cpu", "Host")
OLD_KIND = "it is registered as a custom call of the old kind, which takes other arguments"


class Handed(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("module_file", ctypes.c_char_p),
        ("stage", ctypes.c_char_p),
        ("lack", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
    ]


def capsule_function(name, result, arguments):
    function = getattr(ctypes.pythonapi, name)
    function.restype = result
    function.argtypes = arguments
    return function


capsule_name = capsule_function("PyCapsule_GetName", ctypes.c_char_p, [ctypes.py_object])
capsule_pointer = capsule_function(
    "PyCapsule_GetPointer", ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
)


def is_capsule(value):
    return type(value).__name__ == "PyCapsule"


def is_handler(value):
    """One function, or one for each stage of a call."""
    if isinstance(value, dict):
        return bool(value) and all(
            stage in STAGES and (is_capsule(one) or one is None) for stage, one in value.items()
        )
    return is_capsule(value)


class Collection:
    def __init__(self):
        self.found = {}

    def add(self, name, value, file, lack=""):
        stages = value if isinstance(value, dict) else {"execute": value}
        for stage, capsule in stages.items():
            if capsule is None:
                continue
            shown = name if stage == "execute" else name + "." + stage
            # The capsule may own what the pointer leads to.
            self.found.setdefault(shown, (file, stage, lack, capsule))

    def add_rows(self, rows, file, lack=""):
        """`(name, handler)`, or with the version of the interface behind it: 0 is the old kind."""
        for row in rows:
            if not isinstance(row, (tuple, list)) or len(row) < 2:
                continue
            if not isinstance(row[0], str) or not is_handler(row[1]):
                continue
            old = len(row) > 2 and isinstance(row[2], int) and row[2] == 0
            self.add(row[0], row[1], file, OLD_KIND if old else lack)

    def add_table(self, table, file):
        if isinstance(table, (tuple, list)):
            self.add_rows(table, file)
            return
        if not isinstance(table, dict):
            return
        handlers = {
            name: value
            for name, value in table.items()
            if isinstance(name, str) and is_handler(value)
        }
        # Tables from before there was one kind alone say it by the name.
        tells = any(name.endswith("_ffi") for name in handlers)
        for name, value in handlers.items():
            old = tells and not name.endswith("_ffi")
            self.add(name, value, file, OLD_KIND if old else "")
        for platform, rows in table.items():
            if isinstance(rows, (tuple, list)):
                lack = "" if platform in HOST else "needs a device for `%s`" % (platform,)
                self.add_rows(rows, file, lack)

    def add_module(self, module):
        file = getattr(module, "__file__", None) or module.__name__
        registrations = getattr(module, "registrations", None)
        if callable(registrations):
            self.add_table(registrations(), file)
        for name, value in list(vars(module).items()):
            if is_capsule(value) and capsule_name(value) == TARGET_NAME:
                self.add(name, value, file)
            elif isinstance(value, dict) and is_handler(value):
                # One handler, by its stages.
                if all(capsule_name(one) in (None, TARGET_NAME) for one in capsules_of({"": value})):
                    self.add(name, value, file)
            elif isinstance(value, dict) and value and all(map(is_handler, value.values())):
                if all(capsule_name(one) in (None, TARGET_NAME) for one in capsules_of(value)):
                    self.add_table(value, file)

    def add_registered(self):
        """What was registered with JAX and waits for a backend, which nobody has asked for."""
        client = sys.modules.get("jaxlib.xla_client")
        waiting = getattr(client, "_custom_callback", None)
        if isinstance(waiting, dict):
            for platform in HOST:
                self.add_rows(waiting.get(platform, ()), client.__file__)


def capsules_of(table):
    for value in table.values():
        for one in value.values() if isinstance(value, dict) else (value,):
            if one is not None:
                yield one


def collect(names):
    from importlib import import_module

    collection = Collection()
    modules = [import_module(name) for name in names]
    lapack = sys.modules.get("jaxlib.cpu._lapack")
    for module in modules + ([lapack] if lapack is not None else []):
        # What gets the functions that its handlers call from another package.
        if callable(getattr(module, "registrations", None)):
            initialize = getattr(module, "initialize", None)
            if callable(initialize):
                initialize()
    for module in modules:
        collection.add_module(module)
    collection.add_registered()
    return collection.found


def to_bytes(text):
    return text.encode("utf-8", "replace")


def main():
    library_descriptor = int(sys.argv[1])
    os.set_inheritable(ANSWER_DESCRIPTOR, False)
    # Imported code that reads from standard input is to find its end there, and no questions.
    questions = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.path[:] = [path for path in sys.path if path != ""]
    library = ctypes.CDLL("/proc/self/fd/%d" % library_descriptor)
    os.close(library_descriptor)
    found, problem = {}, ""
    try:
        found = collect(sys.argv[2:])
    except BaseException as error:  # a module may even raise SystemExit while it is imported
        problem = "%s: %s" % (type(error).__name__, error)
        problem = "importing %s failed: %s" % (", ".join(sys.argv[2:]), problem.splitlines()[0])
    handed = (Handed * max(len(found), 1))()
    for place, (name, (file, stage, lack, capsule)) in enumerate(found.items()):
        pointer = capsule_pointer(capsule, capsule_name(capsule))
        handed[place] = Handed(
            to_bytes(name), to_bytes(file), to_bytes(stage), to_bytes(lack), pointer
        )
    serve = library.opseal_serve_handlers
    serve.argtypes = [ctypes.POINTER(Handed), ctypes.c_size_t, ctypes.c_char_p]
    serve.restype = ctypes.c_int
    os.dup2(questions, 0)
    os.close(questions)
    sys.stdout.flush()
    sys.stderr.flush()
    # No exit handler of a package can hang or crash then.
    os._exit(serve(handed, len(found), to_bytes(problem)))


main()
