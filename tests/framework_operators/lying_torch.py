"""Operators of torch for tests/live_frameworks_test.py: honest ones, and one lie for each check."""

import torch
from torch import Tensor


def operator(name, function, fake=None, backward=None):
    defined = torch.library.custom_op("opseal_lies::" + name, function, mutates_args=())
    if fake is not None:
        defined.register_fake(fake)
    if backward is not None:
        defined.register_autograd(
            backward, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs)
        )
    return defined


def product(x: Tensor, y: Tensor) -> Tensor:
    return x * y + torch.sin(x)


def like_first(x, y):
    return torch.empty_like(x)


def right(ctx, gradient):
    x, y = ctx.saved_tensors
    return gradient * (y + torch.cos(x)), gradient * x


def wrong(ctx, gradient):
    x, y = ctx.saved_tensors
    return gradient * (y + torch.sin(x)), gradient * x


operator("honest", product, like_first, right)
operator("wrong_gradient", product, like_first, wrong)
operator("wrong_fake", product, lambda x, y: torch.empty_like(x, dtype=torch.float32), right)


def writes(x: Tensor, y: Tensor) -> Tensor:
    x.data.add_(1)
    return x * y


def singles_only(x: Tensor, y: Tensor) -> Tensor:
    if x.dtype != torch.float32:
        raise RuntimeError("only float32")
    return x * y


def running(x: Tensor, y: Tensor) -> Tensor:
    return torch.cumsum(x, 0) * y


operator("writes", writes)
operator("singles_only", singles_only)


@operator("mixes_rows", running).register_vmap
def mix(info, axes, x, y):
    return torch.cumsum(x.reshape(-1), 0).reshape(x.shape) * y, 0


# The dispatcher copies the rows of what has no rule of its own.
operator("honest_rows", running)

library = torch.library.Library("opseal_lies", "FRAGMENT")
library.define("shares(Tensor x, Tensor y) -> Tensor")
library.impl("shares", lambda x, y: x.view(-1), "CPU")
library.define("says_that_it_shares(Tensor(a) x, Tensor y) -> Tensor(a)")
library.impl("says_that_it_shares", lambda x, y: x.view(-1), "CPU")
library.define("adds_(Tensor(a!) x, Tensor y) -> Tensor(a!)")
library.impl("adds_", lambda x, y: x.add_(y), "CPU")
