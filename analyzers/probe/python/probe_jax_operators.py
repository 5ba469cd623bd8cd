"""Operators that JAX calls: primitives by their names in its tables, and functions of modules."""

import importlib
import sys

import jax
import jax.numpy as jnp
import numpy

from _opseal_probe_operators import (
    MOST_ELEMENTS,
    OFF,
    TOLERANCE,
    TRANSPOSE_OFF,
    Derivative,
    Numbers,
    as_reals,
    describe,
    elements,
    first_difference,
    is_refused_for_dtypes,
    is_near,
    read_plan,
    widest,
)
from _opseal_probe_rows import Skip, error_text

# Rows of a batch.
BATCH = 3

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


def function_named(name):
    """`package.module::function`, or `package.module.function`."""
    path = name.replace("::", ".")
    module, _, attribute = path.rpartition(".")
    if not module:
        return None
    try:
        return getattr(importlib.import_module(module), attribute, None)
    except ImportError:
        return None


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


class Check:
    """All rows of one operator."""

    def __init__(self, rows, plan):
        self.rows = rows
        self.seed = plan["seed"]
        self.calls = plan["operator"]["calls"]
        self.operator = Operator(plan["operator"]["name"], self.calls[0]["attributes"])
        # Of each input: whether anything moves along it by its rule, and what is wrong with that.
        self.tangents = []

    def judge(self, row, call, fine, expected, seen, name=""):
        self.rows.write(
            row=row,
            call=call["identity"],
            input=name,
            status="passed" if fine else "differs",
            expected=str(expected),
            seen=str(seen),
        )

    def skip(self, row, call, reason, name=""):
        identity = call["identity"]
        self.rows.write(row=row, call=identity, input=name, status="skipped", reason=str(reason))

    def run(self):
        served = []
        refused = []
        for call in self.calls:
            try:
                inputs = to_jax(call, Numbers(call, self.seed, False).inputs())
                results = [jax.block_until_ready(one) for one in self.operator.call(*inputs)]
            except Skip as reason:
                self.skip("declared-dtype", call, reason)
                continue
            except Exception as error:
                refused.append((call, error_text(error)))
                continue
            served.append(call)
            self.judge("declared-dtype", call, True, "it is served", describe(to_numpy(results)))
            self.fake(call, inputs, results)
        self.tell_refused(served, refused)
        call = widest(served)
        if call is not None:
            self.derivatives(call)
            self.tell_tangents(call)
        self.batches(served)

    def tell_refused(self, served, refused):
        for call, error in refused:
            if is_refused_for_dtypes(call, served):
                self.judge("declared-dtype", call, False, "it is served", error)
            else:
                self.skip("declared-dtype", call, "is refused: " + error)

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
            results = to_numpy(self.operator.call(*inputs))
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
                self.reverse("gradient", call, inputs, at, name, direction, derivative.central)
            return
        moved = [None if one.dtype == jax.dtypes.float0 else numpy.asarray(one) for one in moved]
        try:
            wrong = derivative.compare(moved)
        except Skip as reason:
            self.skip("jvp", call, reason, name)
        else:
            moves = any(numpy.abs(one).any() for one in moved if one is not None)
            self.tangents.append((name, moves, wrong))
        self.reverse("transpose", call, inputs, at, name, direction, moved)

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

    def reverse(self, row, call, inputs, at, name, direction, moved):
        """<J v, w> is <v, J^T w>, whatever the function is. `moved`: J v of each result."""

        def along(value):
            values = list(inputs)
            values[at] = value
            return [one for one in self.operator.call(*values) if one.dtype.kind == "f"]

        try:
            results, back = jax.vjp(along, inputs[at])
            random = Numbers(call, self.seed + 77, False)
            weights = [random.direction(one.shape).astype(one.dtype.name) for one in results]
            (gradient,) = back([jnp.asarray(one) for one in weights])
        except Exception as error:
            self.skip(row, call, error_text(error), name)
            return
        given = [one for one in moved if one is not None]
        forward = [a.astype(numpy.float64) * b for a, b in zip(given, weights)]
        backward = numpy.asarray(gradient, numpy.float64) * direction
        left, right = sum(float(one.sum()) for one in forward), float(backward.sum())
        size = sum(float(numpy.abs(one).sum()) for one in forward)
        size += float(numpy.abs(backward).sum())
        kind = inputs[at].dtype.name
        if not numpy.isfinite(size):
            self.skip(row, call, "derivatives are no numbers", name)
            return
        if row == "gradient" and not all(abs(one).any() for one in given):
            self.skip(row, call, "the function does not change here", name)
            return
        off = TRANSPOSE_OFF[kind] if row == "transpose" else OFF[kind]
        expected, seen = "<J v, w> = {:.6g}".format(left), "<v, Jt w> = {:.6g}".format(right)
        self.judge(row, call, abs(left - right) <= off * size, expected, seen, name)

    def batches(self, served):
        for call in served:
            if any(0 in one["shape"] for one in call["inputs"]) or elements(call) > MOST_ELEMENTS:
                continue
            if not call["inputs"] or all(one["indexes"] for one in call["inputs"]):
                continue
            self.batch(call)
            return

    def batch(self, call):
        kinds = [Numbers(call, self.seed + row, False).inputs() for row in range(BATCH)]
        separate = [to_jax(call, values) for values in kinds]
        together = [jnp.stack(column) for column in zip(*separate)]
        try:
            alone = [to_numpy(self.operator.call(*row)) for row in separate]
            again = to_numpy(self.operator.call(*separate[0]))
            batched = to_numpy(jax.vmap(self.operator.call)(*together))
        except NotImplementedError as error:
            self.skip("batch", call, error_text(error))
            return
        except Exception as error:
            # A batch may be refused.
            self.skip("batch", call, "is refused: " + error_text(error))
            return
        expected = [numpy.stack(column) for column in zip(*alone)]
        tolerance = max(TOLERANCE.get(one["dtype"].replace("f", "float"), 1e-4) for one in call["inputs"])
        if not all(is_near(a, b, tolerance) for a, b in zip(as_reals(alone[0]), as_reals(again))):
            self.skip("batch", call, "equal inputs give other results each time")
            return
        for at, (one, other) in enumerate(zip(expected, batched)):
            if one.shape != other.shape:
                self.judge("batch", call, False, describe([one]), describe([other]))
                return
            if is_near(*as_reals([one, other]), max(tolerance, 1e-4)):
                continue
            wide = as_reals([one, other])
            far = numpy.abs(wide[0].astype(float) - wide[1].astype(float))
            seen, wanted = first_difference(one, other, numpy.nan_to_num(far, nan=1e300))
            self.judge("batch", call, False, wanted + ", as separate calls give", "{} of result {}".format(seen, at))
            return
        self.judge("batch", call, True, "as separate calls", "as separate calls")


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
