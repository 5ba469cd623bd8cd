"""Operators that JAX calls: primitives by their names in its tables, and functions of modules."""

import sys

import jax
import jax.numpy as jnp
import numpy

from _opseal_probe_derivatives import ROUNDED, TRANSPOSE_OFF, Derivative
from _opseal_probe_operators import (
    Numbers,
    OperatorRows,
    describe,
    function_named,
    import_all,
    is_mistake,
    judged,
    product_texts,
    read_plan,
    skipped,
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
    """`call(*inputs)` gives a list of arrays. `own`: names of JAX's primitives, before others were
    imported."""

    def __init__(self, name, attributes, own):
        self.parameters = {one["name"]: one["value"] for one in attributes}
        self.primitive = None
        self.function = function_named(name)
        if callable(self.function):
            return
        namespace, _, base = name.rpartition("::")
        found = list(dict.fromkeys(primitives().get(base, [])))
        if namespace and namespace.partition(".")[0] != "jax":
            found = [one for one in found if one not in own.get(base, [])]
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


def dtype_word(dtype):
    """opseal's word."""
    name = str(dtype)
    for word, letter in (("float", "f"), ("uint", "u"), ("int", "i"), ("complex", "c")):
        if name.startswith(word) and name[len(word) :].isdigit():
            return letter + name[len(word) :]
    return {"bfloat16": "bf16"}.get(name, name)


class Check(OperatorRows):
    derivative_row = "jvp"

    def __init__(self, rows, plan, own):
        super().__init__(rows, plan)
        self.operator = Operator(self.name, self.calls[0]["attributes"], own)

    def make(self, call):
        if call["gap"]:
            raise Skip("an argument behind one that is left out has no name to be handed over by")
        inputs = to_jax(call, Numbers(call, self.seed, False).inputs())
        results = [jax.block_until_ready(one) for one in self.operator.call(*inputs)]
        return describe(results), (inputs, results)

    def results_of(self, made):
        return [(dtype_word(one.dtype), tuple(one.shape)) for one in made[1]]

    def look(self, call, made):
        self.fake(call, *made)

    arrays = staticmethod(to_jax)
    stack = staticmethod(jnp.stack)

    def is_wrong(self, error):
        return is_mistake(error, jax, ("Custom JVP rule", "Custom VJP"))

    def numbers(self, *inputs):
        return to_numpy(self.operator.call(*inputs))

    def batched(self, axes, *inputs):
        return to_numpy(jax.vmap(self.operator.call, in_axes=tuple(axes))(*inputs))

    def fake(self, call, inputs, results):
        shapes = [jax.ShapeDtypeStruct(one.shape, one.dtype) for one in inputs]
        try:
            promised = jax.eval_shape(self.operator.call, *shapes)
        except Exception as error:
            if self.is_wrong(error):
                self.judge("fake", call, False, describe(results), error_text(error))
            else:
                self.skip("fake", call, error_text(error))
            return
        expected, seen = describe(results), describe(promised)
        self.judge("fake", call, expected == seen, expected, seen)

    def along(self, call, inputs, at, seed):
        random = Numbers(call, seed + at + 1, False)
        direction = random.direction(inputs[at].shape).astype(inputs[at].dtype.name)
        tangents = [
            jnp.asarray(direction)
            if other == at
            else jnp.zeros_like(value)
            if jnp.issubdtype(value.dtype, jnp.inexact)
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

        derivative = Derivative(run, plain, at, direction)
        try:
            _, moved = jax.jvp(self.operator.call, inputs, tangents)
        except Exception as error:
            outcomes = [self.failed("jvp", "the difference of two calls", error)]
            if "custom_vjp" in str(error):
                outcomes.append(self.gradient(call, inputs, at, seed, direction, derivative))
            return outcomes
        moved = [None if one.dtype == jax.dtypes.float0 else numpy.asarray(one) for one in moved]
        outcomes = []
        try:
            wrong = derivative.compare(moved)
        except Skip as reason:
            outcomes.append(skipped("jvp", reason))
        else:
            moves = any(numpy.abs(one).any() for one in moved if one is not None)
            expected, seen = wrong or ("the difference of two calls", "the same")
            outcomes.append(judged("jvp", wrong is None, expected, seen, moves))
        outcomes.append(self.transpose(call, inputs, at, seed, direction, moved))
        return outcomes

    def failed(self, row, expected, error):
        """Who is refused knows it; a rule that can't be run is told."""
        if self.is_wrong(error):
            return judged(row, False, expected, error_text(error))
        return skipped(row, error_text(error))

    def tell(self, call, kept):
        """Nothing may move a result by choice: along all inputs, or where a function stops it. A
        primitive that moves along some inputs alone has lost a rule, and so may have a function
        with a rule of its own that stops nothing."""
        jvps = [one for _, outcomes in kept for one in outcomes if one.row == "jvp"]
        moving = any(one.moves for one in jvps if one.status in ("passed", "differs"))
        for one in jvps:
            if one.status != "differs" or one.moves:
                continue
            if moving and self.operator.primitive is None and self.has_own_rule(call):
                one.row = "jvp-zero"
            elif not moving or self.operator.primitive is None:
                one.status, one.reason = "skipped", "its tangent is 0, which may be a choice"
        super().tell(call, kept)

    def has_own_rule(self, call):
        try:
            text = str(jax.make_jaxpr(self.operator.call)(*self.points(call, self.seed)))
        except Exception:
            return False
        return "custom_jvp" in text and "stop_gradient" not in text

    def pull_back(self, inputs, at, weights):
        """The gradient along an input of results that are weighted so; None: with 0."""

        def along(value):
            values = list(inputs)
            values[at] = value
            return self.operator.call(*values)

        results, back = jax.vjp(along, inputs[at])
        cotangents = []
        for one, weight in zip(results, weights):
            if not jnp.issubdtype(one.dtype, jnp.inexact):
                cotangents.append(numpy.zeros(one.shape, jax.dtypes.float0))
            elif weight is None:
                cotangents.append(jnp.zeros_like(one))
            else:
                cotangents.append(jnp.asarray(weight, one.dtype))
        return back(cotangents)[0]

    def transpose(self, call, inputs, at, seed, direction, moved):
        """<J v, w> is <v, J^T w>, whatever the function is. `moved`: J v of each result."""
        random = Numbers(call, seed + 77, False)
        weights = [
            None if one is None or one.dtype.kind != "f" else random.direction(one.shape)
            for one in moved
        ]
        try:
            gradient = self.pull_back(inputs, at, weights)
        except Exception as error:
            return self.failed("transpose", "reverse mode", error)
        forward = [a.astype(numpy.float64) * b for a, b in zip(moved, weights) if b is not None]
        backward = numpy.asarray(gradient, numpy.float64) * direction
        left, right = sum(float(one.sum()) for one in forward), float(backward.sum())
        size = sum(float(numpy.abs(one).sum()) for one in forward)
        size += float(numpy.abs(backward).sum())
        if not numpy.isfinite(size):
            return skipped("transpose", "derivatives are no numbers")
        kind = inputs[at].dtype.name
        # What cancels within the function leaves its rounding behind.
        weighed = sum(float(numpy.abs(one).sum()) for one in weights if one is not None)
        rounded = ROUNDED * numpy.finfo(kind).eps * (weighed + float(numpy.abs(direction).sum()))
        near = abs(left - right) <= TRANSPOSE_OFF[kind] * size + rounded
        return judged("transpose", near, *product_texts(left, right))

    def gradient(self, call, inputs, at, seed, direction, derivative):
        """Of a function that has no forward mode: J v from differences."""
        try:
            weights = derivative.weights(Numbers(call, seed + 77, False))
        except Skip as reason:
            return skipped("gradient", reason)
        try:
            gradient = self.pull_back(inputs, at, weights)
        except Exception as error:
            return self.failed("gradient", "reverse mode", error)
        try:
            return derivative.judge_gradient("gradient", weights, gradient)
        except Skip as reason:
            return skipped("gradient", reason)


def use_wide_numbers(plan):
    if any(
        one["dtype"] in ("f64", "i64", "u64", "c128")
        for call in plan["operator"]["calls"]
        for one in call["inputs"] + call["outputs"]
    ):
        jax.config.update("jax_enable_x64", True)


def run_operators(rows, path):
    plan = read_plan(path)
    use_wide_numbers(plan)
    jax.devices("cpu")
    own = primitives()
    import_all(rows, plan)
    Check(rows, plan, own).run()
