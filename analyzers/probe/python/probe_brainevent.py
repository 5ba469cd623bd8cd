"""Checks of brainevent: kernels that say who they are, and what becomes of them."""

import importlib

import brainevent
import jax
import jax.numpy as jnp

from _opseal_probe_rows import Skip, error_text, judge_batches, member, need_numba

SHAPE = jax.ShapeDtypeStruct((4,), jnp.float32)


def version():
    return brainevent.__version__


def ones():
    return jnp.ones(4, jnp.float32)


def marker_kernel(number):
    """A generator of a kernel that writes a number of its own, which no other kernel writes."""

    def generate(**parameters):
        return lambda *inputs: (jnp.full((4,), number, jnp.float32) + 0 * inputs[0],)

    return generate


def marked_operator(name):
    """An operator with kernels `first`, the default, and `second`."""
    operator = member(brainevent, "XLACustomKernel")(name)
    operator.def_kernel("first", "cpu", marker_kernel(101.0))
    operator.def_kernel("second", "cpu", marker_kernel(202.0))
    return operator


def number_of(operator, **more):
    return float(operator(ones(), outs=[SHAPE], **more)[0][0])


def judge_switch(rows, name, before, after, expected):
    """Where the first call ran something else than the first kernel, the switch shows nothing."""
    if before[0] != before[1]:
        rows.judge(name, False, before[1], before[0], "before anything was switched")
    else:
        rows.judge(name, after == expected, expected, after)


def backend_switch(rows):
    operator = marked_operator("opseal_eager")
    before = number_of(operator)
    operator.set_default("cpu", "second")
    judge_switch(rows, "backend-switch", (before, 101.0), number_of(operator), 202.0)

    operator = marked_operator("opseal_compiled")
    compiled = jax.jit(lambda x: operator(x, outs=[SHAPE])[0])
    before = float(compiled(ones())[0])
    operator.set_default("cpu", "second")
    after = float(compiled(ones())[0])
    judge_switch(rows, "backend-warmcache", (before, 101.0), after, 202.0)

    operator = marked_operator("opseal_per_call")
    before = number_of(operator)
    after = number_of(operator, backend="second")
    judge_switch(rows, "backend-per-call", (before, 101.0), after, 202.0)

    # The setting for all operators: both have to follow, and to come back.
    set_backend = member(member(brainevent, "config"), "set_backend")
    operators = [marked_operator("opseal_one"), marked_operator("opseal_other")]
    seen = []
    for setting in (None, "second", None):
        set_backend("cpu", setting)
        seen.append([number_of(operator) for operator in operators])
    expected = [[101.0, 101.0], [202.0, 202.0], [101.0, 101.0]]
    rows.judge("backend-switch-global", seen == expected, expected, seen,
               "two operators without a setting, with one, and after it was cleared")


def jvp_missing_rule(rows):
    """One rule for two inputs. A surplus rule changes no number, so only a missing one shows."""
    rules = [
        lambda tangent, x, y, **parameters: (2 * tangent,),
        lambda tangent, x, y, **parameters: (3 * tangent,),
    ]

    def tangent_with(name, some):
        operator = brainevent.XLACustomKernel(name)
        operator.def_kernel("first", "cpu", lambda **parameters: lambda x, y: (2 * x + 3 * y,))
        member(operator, "def_jvp_rule2")(*some)
        call = lambda x, y: operator(x, y, outs=[SHAPE])[0]
        return float(jax.jvp(call, (ones(), ones()), (ones(), ones()))[1][0])

    whole = tangent_with("opseal_whole", rules)
    if whole != 5.0:
        raise Skip("with a rule for each input the tangent is {}, expected 5.0".format(whole))
    expected = "an error, or the tangent 5.0"
    try:
        seen = tangent_with("opseal_missing", rules[:1])
    except Exception as error:
        rows.judge("jvp-missing-rule", True, expected, error_text(error))
        return
    rows.judge("jvp-missing-rule", seen == 5.0, expected, "the tangent {}".format(seen))


def error_no_kernel(rows):
    """The message has to say where there is a kernel. Its own words hold no name of a platform but
    the one that was asked for."""
    operator = brainevent.XLACustomKernel("opseal_elsewhere")
    operator.def_kernel("first", "gpu", marker_kernel(101.0))
    expected = "an error that names the platform with a kernel, `gpu`"
    try:
        seen = "no error, and the number {}".format(number_of(operator))
        fine = False
    except Exception as error:
        seen, fine = error_text(error), "gpu" in str(error).lower()
    rows.judge("error-no-kernel", fine, expected, seen)


def error_generator_fails(rows):
    operator = brainevent.XLACustomKernel("opseal_broken")

    def broken(**parameters):
        raise KeyError("raised by the generator")

    operator.def_kernel("broken", "cpu", broken)
    operator.def_kernel("opseal_sound", "cpu", marker_kernel(202.0))
    expected = "an error that names the other backend, `opseal_sound`"
    try:
        number = number_of(operator)
        seen, fine = "no error, and the number {}".format(number), number == 202.0
    except Exception as error:
        seen, fine = error_text(error), "opseal_sound" in str(error)
    rows.judge("error-generator-fails", fine, expected, seen)


def name_registered_twice(rows):
    import warnings

    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        brainevent.XLACustomKernel("opseal_twice")
        try:
            brainevent.XLACustomKernel("opseal_twice")
            seen = [str(one.message) for one in heard if "opseal_twice" in str(one.message)]
        except Exception as error:
            seen = [error_text(error)]
    rows.judge("name-registered-twice", bool(seen), "a warning or an error with the name",
               seen[0] if seen else "the second one takes the name in silence")


def batch(rows):
    """A kernel of a fixed extent whose elements depend on each other: run once over a buffer that
    holds a whole batch, it mixes the rows or leaves all but the first unwritten."""
    numba = need_numba()
    import numpy

    @numba.njit
    def running_sum(x, out):
        total = numpy.float32(0)
        for at in range(4):
            total += x[at]
            out[at] = total

    operator = brainevent.XLACustomKernel("opseal_row_coupled")
    operator.def_kernel(
        "first",
        "cpu",
        lambda **parameters: lambda x: tuple(
            jax.tree.leaves(member(brainevent, "numba_kernel")(running_sum, outs=[SHAPE])(x))
        ),
    )

    def call(x):
        return operator(x, outs=[SHAPE])[0]

    judge_batches(rows, call, jax, jnp)


CHECKS = {
    "backend-switch": backend_switch,
    "jvp-missing-rule": jvp_missing_rule,
    "error-no-kernel": error_no_kernel,
    "error-generator-fails": error_generator_fails,
    "name-registered-twice": name_registered_twice,
    "batch": batch,
}
for part in ("numba", "libraries", "cache"):
    CHECKS.update(importlib.import_module("_opseal_probe_brainevent_" + part).CHECKS)
