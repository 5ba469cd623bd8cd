"""What the checks of all frameworks share.

A check is a function that is run in a process of its own and states rows: what was expected of the
framework, and what was seen. Each row is a line of JSON on the answer descriptor, written as soon as
it is known, so that a crash loses only what comes after it.
"""

import importlib
import json
import os
import shutil
import sys
import traceback


class Skip(Exception):
    """Says what a check needs and this machine or this version of the framework lacks."""


class ImportFailed(Exception):
    """Says which module that was named for import raised what."""


class Rows:
    def __init__(self, stream):
        self.stream = stream

    def write(self, **members):
        self.stream.write((json.dumps(members) + "\n").encode("utf-8", "replace"))
        self.stream.flush()

    def judge(self, name, fine, expected, seen, reason=""):
        """`fine`: whether what was seen is as it has to be. None: another process decides."""
        status = "seen" if fine is None else "passed" if fine else "differs"
        self.write(row=name, status=status, expected=str(expected), seen=str(seen), reason=reason)


def error_text(error):
    """An exception on one line. Paths below the folder of this process are other ones each time."""
    text = " ".join(str(error).split()).replace(os.environ["TMPDIR"], "SCRATCH")
    return "{}: {}".format(type(error).__name__, text if len(text) <= 300 else text[:299] + "…")


def member(owner, name):
    """A version of the framework may lack it."""
    if not hasattr(owner, name):
        noun = getattr(owner, "__name__", type(owner).__name__)
        raise Skip("`{}` has no `{}`".format(noun, name))
    return getattr(owner, name)


def need_compiler():
    if not any(shutil.which(name) for name in ("g++", "c++", "clang++")):
        raise Skip("no C++ compiler on PATH")


def need_numba():
    try:
        import numba
    except ImportError:
        raise Skip("numba is not installed")
    return numba


def scratch(name):
    """A fresh folder below the one that this process was given."""
    path = os.path.join(os.environ["TMPDIR"], name)
    os.makedirs(path)
    return path


def judge_batches(rows, call, jax, jnp):
    """`call`: of a kernel on four numbers that depend on each other. States the rows `batch` and
    `batch-nested`."""
    import numpy

    numbers = numpy.arange(24, dtype=numpy.float32).reshape(2, 3, 4)
    for name, batched, values in (
        ("batch", jax.vmap(call), numbers[0]),
        ("batch-nested", jax.vmap(jax.vmap(call)), numbers),
    ):
        separate = [numpy.asarray(call(jnp.asarray(row))) for row in values.reshape(-1, 4)]
        alone = numpy.stack(separate)
        if (alone != numpy.cumsum(values.reshape(-1, 4), axis=1)).any():
            raise Skip("the kernel gives other numbers than it should where it is called alone")
        expected = "as separate calls, or an error"
        try:
            together = numpy.asarray(batched(jnp.asarray(values))).reshape(-1, 4)
        except Exception as error:
            rows.judge(name, True, expected, error_text(error))
            continue
        wrong = numpy.flatnonzero((together != alone).any(axis=1))
        seen = "as separate calls"
        if wrong.size > 0:
            seen = "row {}: {} instead of {}".format(
                wrong[0], together[wrong[0]].tolist(), alone[wrong[0]].tolist()
            )
        rows.judge(name, wrong.size == 0, expected, seen)


def answer(framework, check, arguments, stream):
    """Runs one check. The first line is the framework's version, and one with `end` says why rows
    that the check did not state are missing."""
    rows = Rows(stream)
    try:
        module = importlib.import_module("_opseal_probe_" + framework)
        rows.write(version=str(module.version()))
        module.CHECKS[check](rows, *arguments)
        rows.write(end="done", reason="")
    except Skip as reason:
        rows.write(end="skipped", reason=str(reason))
    except ImportFailed as reason:
        rows.write(end="import", reason=str(reason))
    except BaseException as error:  # nobody knows then what the framework does
        if isinstance(error, ModuleNotFoundError) and error.name == framework:
            rows.write(end="missing", reason="")
            return
        traceback.print_exc()
        rows.write(end="no_answer", reason=error_text(error))
