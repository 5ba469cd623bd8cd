"""Checks of torch's dispatcher: kernels in Python that each give a number of their own."""

import warnings

import numpy
import torch

from _opseal_probe_rows import Skip, error_text, judge_batches

# Libraries take their registrations with them.
KEPT = []


def version():
    return torch.__version__


def library(name, kind):
    KEPT.append(torch.library.Library(name, kind))
    return KEPT[-1]


def defined(name):
    owner = library("opseal_probe", "FRAGMENT")
    owner.define(name + "(Tensor x) -> Tensor")
    return owner, getattr(torch.ops.opseal_probe, name)


def number_of(op):
    return float(op(torch.ones(4))[0])


def rebuild_same_target(rows):
    """Another kernel is registered for a dispatch key that has one."""
    owner, op = defined("rebuilt")
    owner.impl("rebuilt", lambda x: torch.full_like(x, 101.0), "CPU")
    if number_of(op) != 101.0:
        raise Skip("the first kernel does not give its number")
    expected = "an error, or 303.0"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            other = library("opseal_probe", "FRAGMENT")
            other.impl("rebuilt", lambda x: torch.full_like(x, 303.0), "CPU")
    except Exception as error:
        rows.judge("rebuild-same-target", True, expected, error_text(error))
        return
    after = number_of(op)
    rows.judge("rebuild-same-target", after == 303.0, expected, "the call gives {}".format(after))


def backend_warmcache(rows):
    """A function that was traced before its operator got another kernel."""
    owner, op = defined("warm")
    owner.impl("warm", lambda x: torch.full_like(x, 101.0), "CPU")
    traced = torch.jit.trace(lambda x: op(x), torch.ones(4))
    before = float(traced(torch.ones(4))[0])
    if before != 101.0:
        raise Skip("the first kernel does not give its number")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = library("opseal_probe", "FRAGMENT")
        try:
            other.impl("warm", lambda x: torch.full_like(x, 303.0), "CPU")
        except Exception as error:
            raise Skip("a second kernel is refused: " + error_text(error))
    after = float(traced(torch.ones(4))[0])
    rows.judge("backend-warmcache", after == 303.0, "303.0", "the call gives {}".format(after))


def error_no_kernel(rows):
    owner, op = defined("elsewhere")
    owner.impl("elsewhere", lambda x: x.clone(), "CUDA")
    expected = "an error that names the operator and the backend"
    try:
        seen, fine = "no error, and {}".format(op(torch.ones(4)).tolist()), False
    except Exception as error:
        text = str(error)
        seen, fine = error_text(error), "elsewhere" in text and "CPU" in text
    rows.judge("error-no-kernel", fine, expected, seen)


class Bridge:
    """As much of jax as `judge_batches` asks for."""

    vmap = staticmethod(torch.vmap)
    asarray = staticmethod(lambda values: torch.from_numpy(numpy.ascontiguousarray(values)))


def batch(rows):
    """A running sum of four elements, batched by torch itself."""
    owner, op = defined("running_sum")

    def running_sum(x):
        return torch.from_numpy(numpy.cumsum(x.detach().numpy().reshape(-1)[:4])).reshape(4)

    owner.impl("running_sum", running_sum, "CPU")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        judge_batches(rows, op, Bridge, Bridge)


def operators(rows, path):
    from _opseal_probe_torch_operators import run_operators

    run_operators(rows, path)


CHECKS = {
    "operators": operators,
    "rebuild-same-target": rebuild_same_target,
    "backend-warmcache": backend_warmcache,
    "error-no-kernel": error_no_kernel,
    "batch": batch,
}
