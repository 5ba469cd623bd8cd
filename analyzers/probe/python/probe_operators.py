"""Operators that a manifest describes, called through their framework.

A plan (`framework_operators.h`) states the calls of one operator. Here stands what does not depend
on the framework: the numbers that are handed over, and how results, derivatives and batches are
held against each other. All of it is NumPy; a framework's script turns arrays into its own and back.
"""

import importlib
import json

import numpy

from _opseal_probe_rows import Skip, error_text

# The distance of two floating results that were made in another order, of the largest number in
# them; and the step of a difference, with how far it may be off a derivative.
TOLERANCE = {"float16": 2e-2, "bfloat16": 1e-1, "float32": 1e-4, "float64": 1e-9}
STEP = {"float32": 5e-3, "float64": 1e-5}
OFF = {"float32": 2e-2, "float64": 1e-5}
# Rules may round by themselves; a rule that is wrong is further off.
TRANSPOSE_OFF = {"float32": 1e-2, "float64": 2e-3}

# Rows of a batch.
BATCH = 3

# Calls of which derivatives and batches are asked: elements of all operands together.
MOST_ELEMENTS = 4096


def read_plan(path):
    with open(path, encoding="utf-8") as stream:
        return json.load(stream)


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


def is_floating(dtype):
    return dtype in ("f16", "bf16", "f32", "f64")


def numpy_type(dtype):
    """The NumPy type that holds numbers of opseal's dtype; bfloat16 is held by float32."""
    names = {"bool": "bool", "bf16": "float32", "c64": "complex64", "c128": "complex128"}
    names.update({"f16": "float16", "f32": "float32", "f64": "float64"})
    for bits in (8, 16, 32, 64):
        names["i{}".format(bits)] = "int{}".format(bits)
        names["u{}".format(bits)] = "uint{}".format(bits)
    if dtype not in names:
        raise Skip("numbers of dtype {} are not made".format(dtype))
    return numpy.dtype(names[dtype])


class Numbers:
    """Inputs of a call; those of one seed are the same in each run."""

    def __init__(self, call, seed, positive):
        self.call = call
        self.random = numpy.random.default_rng(seed)
        self.positive = positive

    def inputs(self):
        return [self.operand(one) for one in self.call["inputs"]]

    def operand(self, one):
        kind, shape = numpy_type(one["dtype"]), tuple(one["shape"])
        if one["indexes"]:
            return numpy.zeros(shape, kind)
        if kind == bool:
            return self.random.integers(0, 2, shape).astype(kind)
        if kind.kind in "iu":
            return self.random.integers(0, 8, shape).astype(kind)
        if kind.kind == "c":
            return (self.real(shape) + 1j * self.real(shape)).astype(kind)
        return self.real(shape).astype(kind)

    def real(self, shape):
        """Away from 0, where many functions have a kink or a pole."""
        size = self.random.uniform(0.2, 0.9 if self.positive else 1.8, shape)
        return size if self.positive else size * self.random.choice((-1.0, 1.0), shape)

    def direction(self, shape):
        return self.random.uniform(0.5, 1.0, shape) * self.random.choice((-1.0, 1.0), shape)


def elements(call):
    sizes = [numpy.prod(one["shape"], dtype=float) for one in call["inputs"] + call["outputs"]]
    return sum(sizes)


def widest(calls):
    """The call whose derivatives are asked: of the widest floating dtype, with something in it."""
    best = None
    for call in calls:
        kinds = [one["dtype"] for one in call["inputs"] if is_floating(one["dtype"])]
        whole = all(numpy.prod(one["shape"]) > 0 for one in call["inputs"] + call["outputs"])
        if not kinds or not whole or elements(call) > MOST_ELEMENTS:
            continue
        rank = min(("f16", "bf16", "f32", "f64").index(kind) for kind in kinds)
        if rank >= 2 and (best is None or rank > best[0]):
            best = (rank, call)
    return best[1] if best is not None else None


def is_refused_for_dtypes(call, served):
    """Other dtypes are served with the same extents, and these with no extents at all."""
    dtypes, _, sizes = call["identity"].partition("/")
    others = [one["identity"].partition("/") for one in served]
    return any(one[2] == sizes for one in others) and all(one[0] != dtypes for one in others)


def as_reals(values):
    """Floating results as float64, others as they are."""
    return [
        value.astype(numpy.float64) if value.dtype.kind == "f" else numpy.asarray(value)
        for value in values
    ]


def is_near(one, other, tolerance):
    if one.shape != other.shape:
        return False
    if one.dtype.kind not in "fc":
        return bool((one == other).all())
    finite = numpy.abs(one[numpy.isfinite(one)])
    scale = float(finite.max()) if finite.size else 0.0
    with numpy.errstate(invalid="ignore"):
        close = numpy.abs(one - other) <= tolerance * scale
    return bool((close | (one == other) | (numpy.isnan(one) & numpy.isnan(other))).all())


def number_text(value):
    return "{:.6g}".format(float(value) + 0.0)


def product_texts(left, right):
    """0 has no sign in a report."""
    return "<J v, w> = {:.6g}".format(left + 0.0), "<v, Jt w> = {:.6g}".format(right + 0.0)


def first_difference(expected, seen, far):
    at = numpy.unravel_index(int(numpy.argmax(far)), far.shape)
    place = "[{}]".format(", ".join(str(index) for index in at))
    return "{} at element {}".format(number_text(seen[at]), place), number_text(expected[at])


def describe(values):
    return ", ".join(
        "{}[{}]".format(value.dtype, ",".join(str(extent) for extent in value.shape))
        for value in values
    )


class OperatorRows:
    """What is seen of one operator. A framework's script adds `make(call)`, which gives the results
    of a call as text and what `look(call, made)` then looks at; `derivatives(call)`; and for
    batches `arrays(call, numbers)`, `stack(arrays)`, `numbers(*arrays)`, results of a call as NumPy
    has them, and `batched(*arrays)`, the same of a batch."""

    def __init__(self, rows, plan):
        self.rows = rows
        self.seed = plan["seed"]
        self.calls = plan["operator"]["calls"]
        self.name = plan["operator"]["name"]

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
        served, refused = [], []
        for call in self.calls:
            try:
                text, made = self.make(call)
            except Skip as reason:
                self.skip("declared-dtype", call, reason)
                continue
            except Exception as error:
                refused.append((call, error_text(error)))
                continue
            served.append(call)
            self.judge("declared-dtype", call, True, "it is served", text)
            self.look(call, made)
        self.tell_refused(served, refused)
        call = widest(served)
        if call is not None:
            self.derivatives(call)
        call = batch_of(served)
        if call is not None:
            self.batch(call)

    def batch(self, call):
        separate = [
            self.arrays(call, Numbers(call, self.seed + row, False).inputs()) for row in range(BATCH)
        ]
        together = [self.stack(column) for column in zip(*separate)]
        try:
            alone = [self.numbers(*row) for row in separate]
            again = self.numbers(*separate[0])
            batched = self.batched(*together)
        except NotImplementedError as error:
            self.skip("batch", call, error_text(error))
        except Exception as error:
            # A batch may be refused.
            self.skip("batch", call, "is refused: " + error_text(error))
        else:
            self.judge_batch(call, alone, again, batched)

    def tell_refused(self, served, refused):
        for call, error in refused:
            if is_refused_for_dtypes(call, served):
                self.judge("declared-dtype", call, False, "it is served", error)
            else:
                self.skip("declared-dtype", call, "is refused: " + error)

    def judge_batch(self, call, alone, again, batched):
        """`alone`: results of separate calls, of which the first was made twice."""
        floats = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64"}
        kinds = [floats.get(one["dtype"], "float32") for one in call["inputs"] + call["outputs"]]
        tolerance = max(TOLERANCE[kind] for kind in kinds)
        if not all(is_near(a, b, tolerance) for a, b in zip(as_reals(alone[0]), as_reals(again))):
            self.skip("batch", call, "equal inputs give other results each time")
            return
        expected = [numpy.stack(column) for column in zip(*alone)]
        for at, (one, other) in enumerate(zip(expected, batched)):
            if one.shape != other.shape:
                self.judge("batch", call, False, describe([one]), describe([other]))
                return
            if is_near(*as_reals([one, other]), max(tolerance, 1e-4)):
                continue
            wide = as_reals([one, other])
            far = numpy.nan_to_num(numpy.abs(wide[0] - wide[1].astype(wide[0].dtype)), nan=1e300)
            seen, wanted = first_difference(one, other, far)
            seen = "{} of result {}".format(seen, at)
            self.judge("batch", call, False, wanted + ", as separate calls give", seen)
            return
        self.judge("batch", call, True, "as separate calls", "as separate calls")


def batch_of(served):
    """A call that a batch is made of, or None."""
    for call in served:
        whole = not any(0 in one["shape"] for one in call["inputs"])
        free = any(not one["indexes"] for one in call["inputs"])
        if whole and free and elements(call) <= MOST_ELEMENTS:
            return call
    return None


class Derivative:
    """Differences of a function along one input, and where they are of use.

    `run(inputs)` gives a list of arrays; `inputs` are arrays of which only `at` is moved.
    """

    def __init__(self, run, inputs, at, direction):
        self.kind = inputs[at].dtype.name
        step = STEP[self.kind]
        moved = []
        for factor in (-1.0, 0.0, 1.0):
            values = list(inputs)
            values[at] = (inputs[at] + factor * step * direction).astype(inputs[at].dtype)
            moved.append(as_reals(run(values)))
        before, here, after = moved
        again = as_reals(run(list(inputs)))
        if not all(numpy.array_equal(a, b, equal_nan=True) for a, b in zip(here, again)):
            raise Skip("equal inputs give other results each time")
        self.central, self.useful, self.flat, self.scale = [], [], [], []
        for low, middle, high in zip(before, here, after):
            if middle.dtype.kind != "f" or middle.size == 0:
                self.central.append(None)
                self.useful.append(None)
                self.flat.append(None)
                self.scale.append(0.0)
                continue
            with numpy.errstate(invalid="ignore"):
                central = (high - low) / (2 * step)
                left, right = (middle - low) / step, (high - middle) / step
            finite = numpy.isfinite(central)
            size = float(numpy.abs(central[finite]).max()) if finite.any() else 0.0
            value = float(numpy.abs(middle[numpy.isfinite(middle)]).max(initial=0.0))
            # A difference of rounded values says nothing of less than this.
            noise = numpy.finfo(self.kind).eps * 64 * value / step
            kink = numpy.abs(left - right) > 0.2 * size + noise
            # Where nothing changes, a rule that says otherwise is a choice (a surrogate gradient).
            flat = (low == middle) & (middle == high)
            self.central.append(central)
            self.useful.append(finite & ~kink)
            self.flat.append(flat)
            self.scale.append(size)
            self.noise = noise
        if not any(useful is not None and useful.any() for useful in self.useful):
            raise Skip("there is no point near which the function is smooth")

    def weights(self, random):
        """Of results, for a product with a gradient: 0 where a difference says nothing."""
        weights = []
        for central, useful, flat in zip(self.central, self.useful, self.flat):
            if central is None:
                weights.append(None)
                continue
            weights.append(random.direction(central.shape) * (useful & ~flat))
        if not any(one is not None and one.any() for one in weights):
            raise Skip("the function does not change at any smooth point")
        return weights

    def judge_gradient(self, weights, gradient, direction):
        """Whether <J v, w> is <v, J^T w>, with J v from differences, and both as texts."""
        left = size = noise = 0.0
        for central, one in zip(self.central, weights):
            if one is None:
                continue
            product = numpy.where(one != 0, central, 0.0) * one
            left += float(product.sum())
            size += float(numpy.abs(product).sum())
            noise += self.noise * float(numpy.abs(one).sum())
        backward = numpy.asarray(gradient, numpy.float64) * direction
        right = float(backward.sum())
        size += float(numpy.abs(backward).sum())
        if not numpy.isfinite(size):
            raise Skip("derivatives are no numbers")
        fine = abs(left - right) <= OFF[self.kind] * size + noise
        return (fine, *product_texts(left, right))

    def is_flat(self):
        return all(scale == 0.0 for scale in self.scale)

    def compare(self, tangents):
        """None, or what was expected and seen. `tangents`: of each result, or None for one that has
        none."""
        given = [numpy.asarray(one, numpy.float64) for one in tangents if one is not None]
        moves = any(float(numpy.abs(one).max(initial=0.0)) > 0 for one in given)
        if self.is_flat() and moves:
            raise Skip("the function does not change here, and its rule moves it: by choice")
        for at, (central, useful) in enumerate(zip(self.central, self.useful)):
            if central is None or tangents[at] is None:
                continue
            tangent = numpy.asarray(tangents[at], numpy.float64)
            if tangent.shape != central.shape:
                return str(central.shape), "{} of result {}".format(tangent.shape, at)
            finite = tangent[numpy.isfinite(tangent)]
            size = max(self.scale[at], float(numpy.abs(finite).max(initial=0.0)))
            with numpy.errstate(invalid="ignore"):
                far = ~(numpy.abs(tangent - central) <= OFF[self.kind] * size + self.noise)
            far &= useful & ~self.flat[at]
            if far.any():
                seen, expected = first_difference(central, tangent, far)
                return expected, "{} of result {}".format(seen, at)
        return None
