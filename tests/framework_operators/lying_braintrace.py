"""Primitives for eligibility traces for tests/live_frameworks_test.py: honest, and with a lie."""

import jax.numpy as jnp

from braintrace._op._primitive import register_primitive


def product(x, weight):
    return x @ weight


def scaled(x, weight):
    return jnp.tanh(x) * weight


def right_product(x, signal, weights):
    return {"weight": jnp.outer(x, signal)}


def transposed(x, signal, weights):
    return {"weight": jnp.outer(signal, x)}


def forgets_tanh(x, signal, weights):
    return {"weight": x * signal}


register_primitive("lies_honest", product).register_xy_to_dw(right_product)
register_primitive("lies_transposed", product).register_xy_to_dw(transposed)
register_primitive("lies_factor", scaled).register_xy_to_dw(forgets_tanh)
register_primitive("lies_silent", product)
