"""Operators that JAX calls: primitives by their names in its tables, and functions of modules."""

import importlib
import sys

import jax
import jax.numpy as jnp
import numpy

from _opseal_probe_operators import (
    TRANSPOSE_OFF,
    Derivative,
    Numbers,
    OperatorRows,
    describe,
    function_named,
    product_texts,
    read_plan,
)
from _opseal_probe_rows import Skip, error_text

JAX_DTYPE = {"bf16": jnp.bfloat16}


def primitives():
    """Every primitive that JAX's tables know, by name."""
    found = {}
    derivatives = sys.modules.get("jax._src.interpreters.ad")
    lowering = sys.modules.get("jax._src.interpreters.mlir")
    tables = [
        getattr(derivatives, "primitive_jvps", {}),
        getattr(derivatives, "primitive_transposes", {}),
        getattr(lowering, "_lowerings", {}),
        *getattr(lowering, "_platform_specific_lowerings", {}).values(),
    ]
    for table in tables:
        for primitive in list(table):
            found.setdefault(getattr(primitive, "name", None), []).append(primitive)
    return found


class Operator:
    """`call(*inputs)` gives a list of arrays."""

    def __init__(self, name, attributes):
        self.parameters = {one["name"]: one["value"] for one in attributes}
        self.primitive = None
        self.function = function_named(name)
        if callable(self.function):
            return
        found = list(dict.fromkeys(primitives().get(name.split("::")[-1], [])))
        if len(found) > 1:
            raise Skip("{} primitives have this name".format(len(found)))
        if not found:
            raise Skip("no primitive of JAX has this name, and no imported module such a function")
        self.primitive = found[0]

    def call(self, *inputs):
        if self.primitive is not None:
            results = self.primitive.bind(*inputs, **self.parameters)
            results = results if self.primitive.multiple_results else [results]
        else:
            results = self.function(*inputs, **self.parameters)
        return list(jax.tree_util.tree_leaves(results))


def to_jax(call, values):
    return [
        jnp.asarray(value, JAX_DTYPE.get(one["dtype"], value.dtype))
        for one, value in zip(call["inputs"], values)
    ]


def to_numpy(values):
    """bfloat16 and its like as float32."""
    return [
        numpy.asarray(value.astype(jnp.float32))
        if value.dtype.name in ("bfloat16",) or value.dtype.name.startswith("float8")
        else numpy.asarray(value)
        for value in values
    ]


class Check(OperatorRows):
    def __init__(self, rows, plan):
        super().__init__(rows, plan)
        self.operator = Operator(self.name, self.calls[0]["attributes"])
        # Of each input: whether anything moves along it by its rule, and what is wrong with that.
        self.tangents = []

    def make(self, call):
        inputs = to_jax(call, Numbers(call, self.seed, False).inputs())
        results = [jax.block_until_ready(one) for one in self.operator.call(*inputs)]
        return describe(results), (inputs, results)

    def look(self, call, made):
        self.fake(call, *made)

    arrays = staticmethod(to_jax)
    stack = staticmethod(jnp.stack)

    def numbers(self, *inputs):
        return to_numpy(self.operator.call(*inputs))

    def batched(self, *inputs):
        return to_numpy(jax.vmap(self.operator.call)(*inputs))

    def fake(self, call, inputs, results):
        shapes = [jax.ShapeDtypeStruct(one.shape, one.dtype) for one in inputs]
        try:
            promised = jax.eval_shape(self.operator.call, *shapes)
        except Exception as error:
            self.skip("fake", call, error_text(error))
            return
        expected, seen = describe(results), describe(promised)
        self.judge("fake", call, expected == seen, expected, seen)

    def smooth_inputs(self, call):
        """Numbers for which the results are numbers."""
        for positive in (False, True):
            inputs = to_jax(call, Numbers(call, self.seed, positive).inputs())
            results = self.numbers(*inputs)
            if all(one.dtype.kind != "f" or numpy.isfinite(one).all() for one in results):
                return inputs
        raise Skip("results are no numbers at any of the points that were tried")

    def derivatives(self, call):
        try:
            inputs = self.smooth_inputs(call)
        except Skip as reason:
            self.skip("jvp", call, reason)
            return
        for at, one in enumerate(call["inputs"]):
            if inputs[at].dtype.kind == "f" and inputs[at].size > 0:
                self.derivative(call, inputs, at, one["name"] or str(at))
        self.tell_tangents(call)

    def derivative(self, call, inputs, at, name):
        random = Numbers(call, self.seed + at + 1, False)
        direction = random.direction(inputs[at].shape).astype(inputs[at].dtype.name)
        tangents = [
            jnp.asarray(direction)
            if other == at
            else jnp.zeros_like(value)
            if value.dtype.kind == "f"
            else numpy.zeros(value.shape, jax.dtypes.float0)
            for other, value in enumerate(inputs)
        ]
        plain = [numpy.asarray(value) for value in inputs]

        def run(values):
            """Results of less precision have no differences."""
            results = self.operator.call(*map(jnp.asarray, values))
            width = inputs[at].dtype.itemsize
            return [
                numpy.asarray(one) if one.dtype.itemsize >= width else numpy.zeros(0, numpy.int8)
                for one in results
            ]

        try:
            derivative = Derivative(run, plain, at, direction)
        except Skip as reason:
            self.skip("jvp", call, reason, name)
            return
        try:
            _, moved = jax.jvp(self.operator.call, inputs, tangents)
        except Exception as error:  # who is refused knows it
            self.skip("jvp", call, error_text(error), name)
            if "custom_vjp" in str(error):
                self.gradient(call, inputs, at, name, direction, derivative)
            return
        moved = [None if one.dtype == jax.dtypes.float0 else numpy.asarray(one) for one in moved]
        try:
            wrong = derivative.compare(moved)
        except Skip as reason:
            self.skip("jvp", call, reason, name)
        else:
            moves = any(numpy.abs(one).any() for one in moved if one is not None)
            self.tangents.append((name, moves, wrong))
        self.transpose(call, inputs, at, name, direction, moved)

    def tell_tangents(self, call):
        """Nothing may move a result by choice: along all inputs, or where a function stops it. A
        primitive that moves along some inputs alone has lost a rule."""
        stopped = not any(moves for _, moves, _ in self.tangents)
        for name, moves, wrong in self.tangents:
            if wrong and not moves and (stopped or self.operator.primitive is None):
                self.skip("jvp", call, "its tangent is 0, which may be a choice", name)
                continue
            expected, seen = wrong or ("the difference of two calls", "the same")
            self.judge("jvp", call, wrong is None, expected, seen, name)

    def pull_back(self, inputs, at, weights):
        """The gradient along an input of results that are weighted so; None: with 0."""

        def along(value):
            values = list(inputs)
            values[at] = value
            return self.operator.call(*values)

        results, back = jax.vjp(along, inputs[at])
        cotangents = []
        for one, weight in zip(results, weights):
            if not jnp.issubdtype(one.dtype, jnp.floating):
                cotangents.append(numpy.zeros(one.shape, jax.dtypes.float0))
            elif weight is None:
                cotangents.append(jnp.zeros_like(one))
            else:
                cotangents.append(jnp.asarray(weight, one.dtype))
        return back(cotangents)[0]

    def transpose(self, call, inputs, at, name, direction, moved):
        """<J v, w> is <v, J^T w>, whatever the function is. `moved`: J v of each result."""
        random = Numbers(call, self.seed + 77, False)
        weights = [None if one is None else random.direction(one.shape) for one in moved]
        try:
            gradient = self.pull_back(inputs, at, weights)
        except Exception as error:
            self.skip("transpose", call, error_text(error), name)
            return
        forward = [a.astype(numpy.float64) * b for a, b in zip(moved, weights) if b is not None]
        backward = numpy.asarray(gradient, numpy.float64) * direction
        left, right = sum(float(one.sum()) for one in forward), float(backward.sum())
        size = sum(float(numpy.abs(one).sum()) for one in forward)
        size += float(numpy.abs(backward).sum())
        if not numpy.isfinite(size):
            self.skip("transpose", call, "derivatives are no numbers", name)
            return
        near = abs(left - right) <= TRANSPOSE_OFF[inputs[at].dtype.name] * size
        self.judge("transpose", call, near, *product_texts(left, right), name)

    def gradient(self, call, inputs, at, name, direction, derivative):
        """Of a function that has no forward mode: J v from differences."""
        try:
            weights = derivative.weights(Numbers(call, self.seed + 77, False))
            gradient = self.pull_back(inputs, at, weights)
            judged = derivative.judge_gradient(weights, gradient, direction)
        except Skip as reason:
            self.skip("gradient", call, reason, name)
            return
        except Exception as error:
            self.skip("gradient", call, error_text(error), name)
            return
        if not judged[0] and not numpy.asarray(gradient).any():
            self.skip("gradient", call, "its gradient is 0, which may be a choice", name)
            return
        self.judge("gradient", call, *judged, name)


def run_operators(rows, path):
    plan = read_plan(path)
    if any(
        one["dtype"] in ("f64", "i64", "u64", "c128")
        for call in plan["operator"]["calls"]
        for one in call["inputs"] + call["outputs"]
    ):
        jax.config.update("jax_enable_x64", True)
    jax.devices("cpu")
    for name in plan["imports"]:
        importlib.import_module(name)
    Check(rows, plan).run()
