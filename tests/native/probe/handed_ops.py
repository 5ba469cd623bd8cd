"""A module that hands out handlers as jaxlib's do, without anything but Python itself."""

import ctypes
import os
import sys

# What a module does while it is imported is no question and no answer.
print("printed by an import", sys.stdin.read())

library = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "libhanded.so"))
library.handed_table.restype = ctypes.c_void_p
make_capsule = ctypes.pythonapi.PyCapsule_New
make_capsule.restype = ctypes.py_object
make_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

# A capsule keeps no copy of its name.
NAME = b"xla._CUSTOM_CALL_TARGET"
OTHER_NAME = b"handed_ops.some_api"


def capsule(place, name=NAME):
    return make_capsule(library.handed_table(place), name, None)


# One alone, in a table, and what is no handler.
handed_alone = capsule(0)
TABLE = {"handed_in_table": {"execute": capsule(0)}}
SOME_API = capsule(3, OTHER_NAME)
NUMBERS = {"one": 1}


def initialize():
    library.handed_initialize()


def registrations():
    return {
        "cpu": [
            ("handed_honest", capsule(0), 1),
            ("handed_liar", {"prepare": None, "execute": capsule(1)}, 1),
            ("handed_crash", capsule(2), 1),
            ("handed_shut_in", capsule(4), 1),
            ("handed_staged", {"instantiate": capsule(5), "execute": capsule(6)}, 1),
            ("handed_old", capsule(3), 0),
        ],
        "CUDA": [("handed_device", capsule(3), 1)],
    }
