"""Checks of brainevent's bridge from XLA to kernels of numba."""

import gc
import inspect
import weakref

from _opseal_probe_rows import Skip, error_text, member, need_numba

import jax
import jax.numpy as jnp
import numpy

import brainevent


def bridge():
    try:
        from brainevent._op import numba_ffi
    except ImportError as error:
        raise Skip(str(error))
    return numba_ffi


def outputs(extent):
    return jax.ShapeDtypeStruct((extent,), jnp.float32)


def callback_ownership(rows):
    """Who owns the callback that XLA holds an address of? Calling it after its owner has gone would
    be undefined: garbage, a crash, or by luck the right number. So it is asked who keeps it."""
    numba = need_numba()

    @numba.njit
    def add_one(x, out):
        out[:] = x + 1.0

    handler_class = member(bridge(), "NumbaCpuFfiHandler")
    known = {
        "name": "opseal_owned",
        "kernel": add_one,
        "input_shapes": ((4,),),
        "input_dtypes": (numpy.dtype("float32"),),
        "output_shapes": ((4,),),
        "output_dtypes": (numpy.dtype("float32"),),
    }
    wanted = list(inspect.signature(handler_class.__init__).parameters)[1:]
    handler = handler_class(**{name: known[name] for name in wanted if name in known})
    alive = weakref.ref(handler)
    del handler
    gc.collect()
    kept = alive() is not None
    rows.judge("callback-ownership", kept, "kept as long as the target is registered",
               "kept" if kept else "collected, while XLA holds its address")


def registered_targets():
    return member(bridge(), "_NUMBA_CPU_FFI_TARGETS")


def targets_per_shape(rows):
    numba = need_numba()

    @numba.njit
    def add_one(x, out):
        out[:] = x + 1.0

    before = len(registered_targets())
    for extent in range(1, 11):
        brainevent.numba_kernel(add_one, outs=outputs(extent))(jnp.ones(extent, jnp.float32))
    made = len(registered_targets()) - before
    if made < 1:
        raise Skip("a call of a numba kernel registers no target in `_NUMBA_CPU_FFI_TARGETS`")
    rows.judge("targets-per-shape", made == 1, "1 target for 10 shapes",
               "{} target{}".format(made, "" if made == 1 else "s"))


def name_stability(rows, order):
    """The names of two kernels; another process makes them in the other order."""
    numba = need_numba()

    @numba.njit
    def add_one(x, out):
        out[:] = x + 1.0

    @numba.njit
    def double(x, out):
        out[:] = x * 2.0

    kernels = [("add_one", add_one), ("double", double)]
    if order == "second":
        kernels.reverse()
    names = {}
    for name, kernel in kernels:
        before = set(map(str, registered_targets().values()))
        brainevent.numba_kernel(kernel, outs=outputs(4))(jnp.ones(4, jnp.float32))
        names[name] = sorted(set(map(str, registered_targets().values())) - before)
    seen = "; ".join("{}: {}".format(name, ", ".join(names[name])) for name in sorted(names))
    rows.judge("name-stability", None, "the same names in both processes", seen)


def dtype_codes(rows):
    """Numbers of XLA for types that numpy has no word for. A call with such an operand fails in any
    version, since numba refuses it; so the function that resolves them is asked itself."""
    resolve = member(bridge(), "resolve_buffer_dtype")
    if resolve(11, numpy.dtype("float64")) != numpy.dtype("float32"):
        raise Skip("`resolve_buffer_dtype` does not know 11, the number of f32")
    taken = []
    errors = []
    for code, name in ((20, "f8e4m3fn"), (21, "s4"), (22, "u4"), (99, "no type of XLA")):
        try:
            taken.append("{} ({}) is {}".format(code, name, resolve(code, numpy.dtype("float32"))))
        except Exception as error:
            errors.append(error_text(error))
    rows.judge("dtype-codes", not taken, "an error for each",
               "; ".join(taken) if taken else errors[0])


CHECKS = {
    "callback-ownership": callback_ownership,
    "targets-per-shape": targets_per_shape,
    "name-stability": name_stability,
    "dtype-codes": dtype_codes,
}
