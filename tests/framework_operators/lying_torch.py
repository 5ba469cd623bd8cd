"""Operators of torch for tests/live_frameworks_test.py: honest ones, and one lie for each check."""

from typing import List, Optional

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
library.define("forgets_(Tensor(a!) x, Tensor y) -> ()")
library.impl("forgets_", lambda x, y: (x + y, None)[1], "CPU")


def by_address(x: Tensor, y: Tensor) -> Tensor:
    """Takes the memory for the numbers, whatever the strides are."""
    flat = torch.as_strided(x, (x.numel(),), (1,), x.storage_offset())
    return flat.clone().reshape(x.shape) * y


def by_address_or_not(x: Tensor, y: Tensor) -> Tensor:
    if not x.is_contiguous():
        raise RuntimeError("x has to be contiguous")
    return by_address(x, y)


def refuses_rows(info, axes, x, y):
    raise NotImplementedError("no batches")


operator("by_address", by_address, like_first).register_vmap(refuses_rows)
operator("by_address_or_not", by_address_or_not, like_first).register_vmap(refuses_rows)


def too_few(ctx, gradient):
    return gradient * ctx.saved_tensors[1]


def times(x: Tensor, y: Tensor) -> Tensor:
    return x * y


operator("gives_one_gradient", times, like_first, too_few)
operator("fake_with_a_slip", times, lambda x, y: x.new_emtpy(x.shape))


def joins(xs: List[Tensor], scale: Optional[Tensor]) -> Tensor:
    return torch.cat(xs) * (2 if scale is None else scale.sum())


def define_joins(name, slip):
    defined = torch.library.custom_op("opseal_lies::" + name, joins, mutates_args=())
    defined.register_fake(lambda xs, scale: xs[0].new_empty(sum(len(one) for one in xs)))

    def keep(ctx, inputs, output):
        ctx.lengths = [len(one) for one in inputs[0]]
        ctx.whole = torch.cat(inputs[0])
        ctx.scale = inputs[1]

    def backward(ctx, gradient):
        factor = 2 if ctx.scale is None else ctx.scale.sum()
        parts = [part.clone() for part in (gradient * factor).split(ctx.lengths)]
        parts[-1] *= slip
        other = None
        if ctx.scale is not None:
            other = (gradient * ctx.whole).sum().expand(ctx.scale.shape).clone()
        return parts, other

    defined.register_autograd(backward, setup_context=keep)


define_joins("joins", 1)
define_joins("joins_and_slips", 3)


def in_single(x: Tensor, y: Tensor) -> Tensor:
    """Computed in single precision, as many norms are."""
    return (x.float() * y.float() + torch.sin(x.float())).to(x.dtype)


def leaves_tail(x: Tensor, y: Tensor) -> Tensor:
    """Of an odd number the last one is left as it was."""
    result = torch.empty_like(x)
    whole = x.numel() // 2 * 2
    result[:whole] = x[:whole] * y[:whole]
    return result


def adds_to_nothing(x: Tensor, y: Tensor) -> Tensor:
    """A sum that begins with what was there."""
    return torch.empty_like(x).add_(x * y)


operator("leaves_tail", leaves_tail, like_first)
operator("adds_to_nothing", adds_to_nothing, like_first)
operator("in_single", in_single, like_first, right)


def counts_up(x: Tensor, y: Tensor) -> Tensor:
    return x.to(torch.int64)


operator("gives_integers", counts_up, lambda x, y: torch.empty_like(x, dtype=torch.int64))


def turns(ctx, gradient):
    return -gradient, None


# A gradient that is turned on purpose, which the manifest says.
def same(x: Tensor, y: Tensor) -> Tensor:
    return x.clone()


operator("turns_gradient", same, like_first, turns)


library.define("clips_(Tensor(a!) x, Tensor y) -> ()")
library.impl("clips_", lambda x, y: (x.clamp_(-10, 10), None)[1], "CPU")
library.define("noise_(Tensor(a!) x, Tensor y) -> ()")
library.impl("noise_", lambda x, y: (x.add_(torch.rand_like(x)), None)[1], "CPU")
