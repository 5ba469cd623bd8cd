"""Primitives of JAX for tests/live_frameworks_test.py: honest ones, and one lie for each check."""

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir


def make(name, function, promise=None):
    primitive = Primitive(name)
    primitive.def_impl(function)

    def abstract(*operands):
        shape = jax.eval_shape(promise or function, *operands)
        return jax.core.ShapedArray(shape.shape, shape.dtype)

    primitive.def_abstract_eval(abstract)
    mlir.register_lowering(primitive, mlir.lower_fun(function, multiple_results=False))
    return primitive


def product(x, y):
    return x * y + jnp.sin(x)


honest = make("opseal_honest", product)
ad.defjvp(honest, lambda t, x, y: t * (y + jnp.cos(x)), lambda t, x, y: t * x)


def together(operands, axes):
    """Rows first; what all of them share is spread."""
    size = next(one.shape[axis] for one, axis in zip(operands, axes) if axis is not None)
    rows = [
        jnp.broadcast_to(one, (size, *one.shape)) if axis is None else jnp.moveaxis(one, axis, 0)
        for one, axis in zip(operands, axes)
    ]
    return honest.bind(*rows), 0


batching.primitive_batchers[honest] = together

# No rule for the second input.
loses_rule = make("opseal_loses_rule", product)
ad.defjvp(loses_rule, lambda t, x, y: t * (y + jnp.cos(x)), None)

wrong_rule = make("opseal_wrong_rule", product)
ad.defjvp(wrong_rule, lambda t, x, y: t * (y + jnp.sin(x)), lambda t, x, y: t * x)

# The transpose of a running sum runs from the other end.
wrong_transpose = make("opseal_wrong_transpose", jnp.cumsum)
ad.deflinear2(wrong_transpose, lambda cotangent, x: [jnp.cumsum(cotangent)])

mixes_rows = make("opseal_mixes_rows", jnp.cumsum)


def mix(operands, axes):
    (x,), (axis,) = operands, axes
    return mixes_rows.bind(x.reshape(-1)).reshape(x.shape), axis


batching.primitive_batchers[mixes_rows] = mix

wrong_promise = make("opseal_wrong_promise", lambda x: 2 * x, lambda x: jnp.concatenate([x, x]))

# The function is a step, and its rule a choice.
surrogate = make("opseal_surrogate", lambda x: (x > 0).astype(x.dtype))
ad.defjvp(surrogate, lambda t, x: t * jnp.exp(-x * x))

ramp = make("opseal_ramp", lambda x: jnp.maximum(x, 0))
ad.defjvp(ramp, lambda t, x: t * (x > 0))


def stopped(x, scale):
    return x * jax.lax.stop_gradient(scale)


@jax.custom_vjp
def backward_only(x):
    return jnp.sin(x)


backward_only.defvjp(lambda x: (jnp.sin(x), x), lambda x, cotangent: (cotangent * jnp.cos(x),))


@jax.custom_vjp
def wrong_backward(x):
    return jnp.sin(x)


wrong_backward.defvjp(lambda x: (jnp.sin(x), x), lambda x, cotangent: (cotangent * jnp.sin(x),))


def singles_only(x):
    if x.dtype != jnp.float32:
        raise TypeError("only float32")
    return 2 * x


# The rows of x alone come out in the other order.
half_batched = make("opseal_half_batched", product)
ad.defjvp(half_batched, lambda t, x, y: t * (y + jnp.cos(x)), lambda t, x, y: t * x)


def half(operands, axes):
    values, axis = together(operands, axes)
    return values[::-1] if axes[1] is None else values, axis


batching.primitive_batchers[half_batched] = half


@jax.custom_jvp
def loses_tangent(x, y):
    return x * y


@loses_tangent.defjvp
def lost(primals, tangents):
    x, y = primals
    return x * y, tangents[0] * y


@jax.custom_jvp
def rule_with_a_slip(x):
    return jnp.sin(x)


@rule_with_a_slip.defjvp
def slip(primals, tangents):
    return jnp.sin(primals[0]), tangents[0] * jnp.cosine(primals[0])


def rounds(x):
    """A quantizer whose gradient passes straight through, by choice."""
    scale = jnp.max(jnp.abs(x)) / 127
    return x + jax.lax.stop_gradient(jnp.round(x / scale) * scale - x)


def turns_fast(x):
    """Differences in single precision say nothing of it."""
    return jnp.sin(1000 * x)


def cancels(x):
    return jnp.sum(jax.nn.softmax(x)) - 1 + 0 * x


def two_scales(x):
    """A large result beside a small one."""
    return 1e4 + x, x


def counts(x):
    return (x > 0).astype(jnp.int32)
