"""Checks of JAX's table of targets: handlers that say who they are, made here without a compiler."""

import ctypes
import inspect

import jax
import jax.numpy as jnp

from _opseal_probe_rows import Skip, error_text, judge_batches, member

POINTER, WORD, NUMBER = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int32


def struct(name, *fields):
    return type(name, (ctypes.Structure,), {"_fields_": list(fields)})


# As much of XLA's FFI as a handler with one result needs; of all releases from 0.4.31 on.
Extension = struct("Extension", ("size", WORD), ("type", NUMBER), ("next", POINTER))
Version = struct(
    "Version", ("size", WORD), ("extensions", POINTER), ("major", NUMBER), ("minor", NUMBER)
)
Metadata = struct(
    "Metadata", ("size", WORD), ("version", Version), ("traits", ctypes.c_uint32)
)
Api = struct("Api", ("size", WORD), ("extensions", POINTER), ("version", Version))
MetadataExtension = struct("MetadataExtension", ("base", Extension), ("metadata", POINTER))
Operands = struct(
    "Operands",
    ("size", WORD),
    ("extensions", POINTER),
    ("count", ctypes.c_int64),
    ("types", POINTER),
    ("values", ctypes.POINTER(POINTER)),
)
Frame = struct(
    "Frame",
    ("size", WORD),
    ("extensions", POINTER),
    ("api", POINTER),
    ("context", POINTER),
    ("stage", NUMBER),
    ("arguments", Operands),
    ("results", Operands),
)
Buffer = struct(
    "Buffer",
    ("size", WORD),
    ("extensions", POINTER),
    ("dtype", NUMBER),
    ("data", ctypes.POINTER(ctypes.c_float)),
    ("rank", ctypes.c_int64),
    ("dims", ctypes.POINTER(ctypes.c_int64)),
)
HANDLER = ctypes.CFUNCTYPE(POINTER, ctypes.POINTER(Frame))
METADATA = 1

# XLA keeps their addresses.
HANDLERS = []


def version():
    return jax.__version__


def capsule(write):
    """A capsule of a handler that calls `write(arguments, result)`, buffers both."""

    def call(frame):
        extension = frame.contents.extensions
        if extension and Extension.from_address(extension).type == METADATA:
            metadata = Metadata.from_address(MetadataExtension.from_address(extension).metadata)
            # These structs never changed: they are of whatever version the framework has.
            served = Api.from_address(frame.contents.api).version
            metadata.version.major, metadata.version.minor = served.major, served.minor
            metadata.traits = 0
            return None
        arguments, results = frame.contents.arguments, frame.contents.results
        given = [Buffer.from_address(arguments.values[at]) for at in range(arguments.count)]
        write(given, Buffer.from_address(results.values[0]))
        return None

    HANDLERS.append(HANDLER(call))
    return ffi().pycapsule(ctypes.cast(HANDLERS[-1], POINTER).value)


def writer_of(number):
    """Writes a number of its own into each element of its result."""

    def write(arguments, result):
        extent = 1
        for axis in range(result.rank):
            extent *= result.dims[axis]
        for at in range(extent):
            result.data[at] = number

    return write


def running_sum(arguments, result):
    """Made for four elements, whatever the buffers hold, as a launch of fixed size is."""
    total = 0.0
    for at in range(4):
        total += arguments[0].data[at]
        result.data[at] = total


def ffi():
    """It lay in `jax.extend` at first."""
    if hasattr(jax, "ffi"):
        return jax.ffi
    try:
        from jax.extend import ffi as early
    except ImportError:
        raise Skip("`jax` {} has no `ffi`".format(jax.__version__))
    return early


def register(target, write):
    # Before there is a backend a registration is only noted down.
    jax.devices("cpu")
    ffi().register_ffi_target(target, capsule(write), platform="cpu")


def call_of(target, **more):
    if "vmap_method" not in inspect.signature(member(ffi(), "ffi_call")).parameters:
        raise Skip("`ffi_call` of `jax` {} is an earlier one".format(jax.__version__))
    return ffi().ffi_call(target, jax.ShapeDtypeStruct((4,), jnp.float32), **more)


def number_of(target):
    call = call_of(target)
    return float(jax.jit(lambda x: call(x))(jnp.ones(4, jnp.float32))[0])


def registered_once(target):
    register(target, writer_of(101.0))
    number = number_of(target)
    if number != 101.0:
        raise Skip("the first handler gives {}, expected 101.0".format(number))


def rebuild_same_target(rows):
    """Another handler is registered under a target that has one."""
    registered_once("opseal_rebuilt")
    expected = "an error, or 303.0"
    try:
        register("opseal_rebuilt", writer_of(303.0))
    except Exception as error:
        rows.judge("rebuild-same-target", True, expected, error_text(error))
        return
    after = number_of("opseal_rebuilt")
    seen = "accepted, and the call {}gives {}".format("still " if after == 101.0 else "", after)
    rows.judge("rebuild-same-target", after == 303.0, expected, seen)


def error_no_target(rows):
    registered_once("opseal_present")
    expected = "an error that names the target"
    try:
        seen, fine = "no error, and the number {}".format(number_of("opseal_absent")), False
    except Exception as error:
        seen, fine = error_text(error), "opseal_absent" in str(error)
    rows.judge("error-no-target", fine, expected, seen)


def batch(rows):
    register("opseal_running_sum", running_sum)
    call = call_of("opseal_running_sum", vmap_method="sequential")
    judge_batches(rows, call, jax, jnp)


def operators(rows, path):
    from _opseal_probe_jax_operators import run_operators

    run_operators(rows, path)


CHECKS = {
    "operators": operators,
    "rebuild-same-target": rebuild_same_target,
    "error-no-target": error_no_target,
    "batch": batch,
}
